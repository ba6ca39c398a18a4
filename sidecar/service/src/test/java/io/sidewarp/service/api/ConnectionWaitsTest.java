// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.MpaOptions;
import io.sidewarp.v1.Region;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the reports about waiting connections: in the state, in an event, and in the description. */
class ConnectionWaitsTest extends TwoSidecars {

    private static final int SIZE = 64;

    private Region source;
    private Region outbox;
    private Region target;

    @BeforeEach
    void register() {
        source = client.managed(SIZE);
        outbox = server.managed(SIZE);
        target = client.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
    }

    @Test
    @Requirement("MPA-7.1.2-09")
    void theAcceptingSideWaitsForThePeerAndSaysSo() {
        TestSession.Pair pair = client.connectTo(server);
        try (TestQueue queue = server.queue(4)) {
            queue.credits();
            queue.post(write(1, pair.there().getId(), outbox, target, 8).build());

            ConnectionStateChange waiting = changeTo(ConnectionState.CONNECTION_STATE_WAITING_FOR_PEER);
            assertThat(waiting.getMessage())
                    .contains("connecting side send first")
                    .contains("mpa.peer_to_peer");
            Connection listed = server.listConnections().getFirst();
            assertThat(listed.getState()).isEqualTo(ConnectionState.CONNECTION_STATE_WAITING_FOR_PEER);
            assertThat(listed.getWaiting()).isEqualTo(waiting.getMessage());

            sendFirst(pair);

            changeTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);
            assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            assertThat(server.listConnections().getFirst().getWaiting()).isEmpty();
        }
    }

    @Test
    void aGracefulDisconnectBehindWorkThatWaitsForThePeerIsToldAsWaiting() {
        TestSession.Pair pair = client.connectTo(server);
        try (TestQueue queue = server.queue(4)) {
            queue.credits();
            queue.post(write(1, pair.there().getId(), outbox, target, 8).build());
            CompletableFuture<?> closing = CompletableFuture.supplyAsync(
                    () -> server.connections()
                            .disconnect(DisconnectRequest.newBuilder()
                                    .setSession(server.token())
                                    .setConnection(pair.there().getId())
                                    .setAfterPosts(1)
                                    .build()),
                    Thread::startVirtualThread);
            changeTo(ConnectionState.CONNECTION_STATE_WAITING_FOR_PEER);

            sendFirst(pair);

            Waiting.join(closing);
            assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
    }

    @Test
    void theAcceptingSideNeedNotWaitInThePeerToPeerModel() {
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting = client.connect(client.connectRequest(listening.port())
                    .setOptions(ConnectionOptions.newBuilder()
                            .setMpa(MpaOptions.newBuilder().setPeerToPeer(true)))
                    .build());
            Connection there = server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build())
                    .getConnection();
            Waiting.join(connecting);
            try (TestQueue queue = server.queue(4)) {
                queue.credits();
                queue.post(write(1, there.getId(), outbox, target, 8).build());

                assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            }
        }
    }

    private void sendFirst(TestSession.Pair pair) {
        Region anywhere = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
        try (TestQueue queue = client.queue(1)) {
            queue.credits();
            queue.post(write(1, pair.here().getId(), source, anywhere, 8).build());
            queue.next();
        }
    }

    /** The server's next event, which must be a change to the state, but for those that come before it. */
    private ConnectionStateChange changeTo(ConnectionState state) {
        ConnectionStateChange change;
        do {
            change = server.nextEvent().getConnection();
        } while (change.getState() != state);
        return change;
    }
}
