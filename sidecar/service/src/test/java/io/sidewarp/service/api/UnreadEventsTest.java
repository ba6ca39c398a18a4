// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.sidewarp.service.testing.SlowReader;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.OpenSessionResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests clients that open a session and do not read its events. */
class UnreadEventsTest {

    /** Events that wait in the sidecar at most. */
    private static final int WAITING = 1024;
    /** More than that, and fewer than would wait if the transport had 32 KiB of them, too. */
    private static final int EVENTS = 1500;
    /** Octets of a call that its client takes without reading. */
    private static final int WINDOW = 1024;

    @Test
    void eventsThatAreNotReadWaitInTheSessionOnlyAndNotInTheTransport() throws Exception {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession other = sidecar.session()) {
            ManagedChannel channel = sidecar.channel(WINDOW);
            try {
                SlowReader<OpenSessionRequest, OpenSessionResponse> client = new SlowReader<>();
                DeviceServiceGrpc.newStub(channel).openSession(OpenSessionRequest.getDefaultInstance(), client);
                String session = client.next().getOpened().getSession();
                long last = makeEvents(other, session);

                client.read();

                assertThat(client.until(last, event -> event.getConnection().getConnection()))
                        .hasSizeBetween(WAITING, WAITING + WINDOW / Byte.SIZE);
            } finally {
                TestSidecar.close(channel);
            }
        }
    }

    /**
     * Makes events with connections that nobody accepts, and with one accepted connection. Returns the ID of the
     * accepted connection.
     */
    private static long makeEvents(TestSession client, String session) throws IOException {
        int closed;
        try (ServerSocket socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }
        for (int i = 0; i < EVENTS; i++) {
            assertThat(Waiting.status(() -> connect(client, session, closed)).getCode())
                    .isEqualTo(Status.Code.UNAVAILABLE);
        }
        try (TestSession.Listening listening = client.listen()) {
            int port = listening.port();
            CompletableFuture<Connection> connecting =
                    CompletableFuture.supplyAsync(() -> connect(client, session, port));
            client.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(client.token())
                            .setRequest(listening.next().getId())
                            .build());
            return Waiting.join(connecting).getId();
        }
    }

    private static Connection connect(TestSession client, String session, int port) {
        return client.connections()
                .connect(client.connectRequest(port).setSession(session).build())
                .getConnection();
    }
}
