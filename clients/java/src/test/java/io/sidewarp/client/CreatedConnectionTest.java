// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.sidewarp.client.FakeTransfer.FakeQueue;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.CreateConnectionRequest;
import io.sidewarp.v1.ListenResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/** Tests connections that are created before connect or accept. */
class CreatedConnectionTest extends FakeSidecarTest {

    private static final Sge SGE = new Sge(1, 0, 8);

    private final ConnectionOptions options = ConnectionOptions.builder()
            .receiveQueue(5)
            .privateData(new byte[] {1, 2})
            .build();

    @Test
    void itIsIdleUntilItIsConnected() throws Exception {
        sidecar.connections.privateData = ByteString.copyFromUtf8("peer");

        Connection created = session.createConnection(options);

        CreateConnectionRequest request = FakeSidecar.next(sidecar.connections.creations);
        assertThat(request.getSession()).isEqualTo(session.id());
        assertThat(request.getOptions()).isEqualTo(options.proto());
        assertThat(created.state()).isEqualTo(Connection.State.IDLE);
        assertThat(created.privateData()).isEmpty();

        Connection connected = session.connect("peer", 4791, created);

        assertThat(connected).isSameAs(created);
        assertThat(created.state()).isEqualTo(Connection.State.ESTABLISHED);
        assertThat(created.established().remotePort()).isEqualTo(4791);
        assertThat(created.privateData()).isEqualTo("peer".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void connectComesBehindWhatWasPosted() throws Exception {
        Connection created = session.createConnection(options);
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.batch(_ -> {
            queue.tryPost(1, WorkRequest.receive(created, SGE));
            queue.tryPost(2, WorkRequest.receive(created, SGE));
            session.connect("peer", 4791, created);
        });

        ConnectRequest request = FakeSidecar.next(sidecar.connections.connects);
        assertThat(request.getConnection()).isEqualTo(created.id());
        assertThat(request.getAfterPosts()).isEqualTo(2);
        assertThat(request.hasOptions()).isFalse();
        assertThat(request.getPrivateData()).isEqualTo(ByteString.copyFrom(new byte[] {1, 2}));
        // A batch does not keep back what the call waits for.
        assertThat(FakeSidecar.next(server.posts).getWorkList())
                .hasSize(2)
                .allMatch(work -> work.getConnection() == created.id());
    }

    @Test
    void acceptUsesIt() throws Exception {
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        Connection created = session.createConnection(options);
        try (Listener listener = session.listen("", 0, incoming -> accepted.add(incoming.accept(created)))) {
            assertThat(listener.port()).isPositive();
            FakeSidecar.next(sidecar.connections.listeners)
                    .onNext(ListenResponse.newBuilder()
                            .setRequest(ConnectionRequest.newBuilder().setId(55))
                            .build());

            assertThat(FakeSidecar.next(accepted)).isSameAs(created);
            AcceptRequest request = FakeSidecar.next(sidecar.connections.accepts);
            assertThat(request.getConnection()).isEqualTo(created.id());
            assertThat(request.hasOptions()).isFalse();
            assertThat(request.getPrivateData()).isEqualTo(ByteString.copyFrom(new byte[] {1, 2}));
            assertThat(created.established().remotePort()).isEqualTo(9);
        }
    }

    @Test
    void anAttemptThatNobodyWaitsForIsAborted() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        sidecar.connections.connectHold = hold;
        Connection created = session.createConnection();
        CompletableFuture<Connection> connecting = session.connectAsync("peer", 4791, created);
        FakeSidecar.next(sidecar.connections.connects);

        connecting.cancel(true);
        hold.complete(null);

        var request = FakeSidecar.next(sidecar.connections.disconnects);
        assertThat(request.getConnection()).isEqualTo(created.id());
        assertThat(request.getAbort()).isTrue();
    }

    @Test
    void anUnusedOneIsClosed() throws Exception {
        Connection created = session.createConnection();

        created.close();

        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getConnection())
                .isEqualTo(created.id());
    }

    @Test
    void theFailureOfConnectIsThrown() {
        sidecar.connections.connectFailure =
                Status.FAILED_PRECONDITION.withDescription("is used").asRuntimeException();
        Connection created = session.createConnection();

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> session.connect("peer", 4791, created))
                .withMessageContaining("is used");
        assertThat(created.state()).isEqualTo(Connection.State.IDLE);
    }
}
