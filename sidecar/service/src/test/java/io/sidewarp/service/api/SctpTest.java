// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Association;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ListAssociationsRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.Listening;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WriteRequest;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests connections over SCTP, between two sidecars. */
class SctpTest extends TwoSidecars {

    private static final int SIZE = 1 << 20;

    @Override
    TestSidecar startLeft() {
        return TestSidecar.start("sidewarp.sctp.udp-port", "0");
    }

    @Override
    TestSidecar startRight() {
        return TestSidecar.start("sidewarp.sctp.udp-port", "0");
    }

    @Test
    void carriesWhatTcpCarries() {
        byte[] data = new byte[SIZE];
        new Random(5).nextBytes(data);
        Region source = client.managed(SIZE);
        Region sink = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        Region target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
        client.store(source.getId(), 0, data, 100_000);
        ListenRequest listen = ListenRequest.newBuilder()
                .setSession(server.token())
                .setAddress("127.0.0.1")
                .setLlp(Llp.LLP_SCTP)
                .build();
        try (TestSession.Listening listening = server.listen(listen)) {
            Listening at = listening.address();
            assertThat(at.getUdpPort()).isPositive();
            CompletableFuture<Connection> connecting = client.connect(client.connectRequest(at.getPort())
                    .setPrivateData(ByteString.copyFromUtf8("from the client"))
                    .setOptions(
                            ConnectionOptions.newBuilder().setLlp(Llp.LLP_SCTP).setUdpPort(at.getUdpPort()))
                    .build());
            ConnectionRequest request = listening.next();
            server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(request.getId())
                            .build());
            Connection connection = Waiting.join(connecting);
            long id = connection.getId();

            WorkCompletion written = client.transfer()
                    .write(WriteRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(id)
                            .setWork(Works.write(1, id, source, target, SIZE).getWrite())
                            .build())
                    .getCompletion();
            WorkCompletion read = client.transfer()
                    .read(ReadRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(id)
                            .setWork(Works.read(2, id, sink, target, SIZE).getRead())
                            .build())
                    .getCompletion();

            assertThat(request.getPrivateData().toStringUtf8()).isEqualTo("from the client");
            assertThat(connection.getLlp()).isEqualTo(Llp.LLP_SCTP);
            assertThat(connection.getRemotePort()).isEqualTo(at.getPort());
            assertThat(written.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            assertThat(read.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            assertThat(server.load(target.getId(), 0, 0)).isEqualTo(data);
            assertThat(client.load(sink.getId(), 0, 0)).isEqualTo(data);
            assertThat(associations(client)).singleElement().satisfies(association -> {
                assertThat(association.getId()).isEqualTo(connection.getAssociation());
                assertThat(association.getRemotePort()).isEqualTo(at.getPort());
                assertThat(association.getRemoteUdpPort()).isEqualTo(at.getUdpPort());
                assertThat(association.getOccupiedStreams()).isEqualTo(1);
                assertThat(association.getChunksSent()).isGreaterThan(SIZE / 65_536);
                assertThat(association.getChunksReceived()).isGreaterThan(SIZE / 65_536);
                assertThat(association.getPathsList()).singleElement().satisfies(path -> {
                    assertThat(path.getAddress()).isEqualTo("127.0.0.1");
                    assertThat(path.getActive()).isTrue();
                    assertThat(path.getPrimary()).isTrue();
                });
            });
            assertThat(left.get("/q/metrics"))
                    .contains("sidewarp_sctp_associations{otel_scope_name=\"io.sidewarp\"} 1.0")
                    .contains("sidewarp_sctp_streams{otel_scope_name=\"io.sidewarp\"} 1.0")
                    .containsPattern("sidewarp_sctp_paths\\{[^}]*state=\"active\"} 1\\.0")
                    .containsPattern("sidewarp_sctp_paths\\{[^}]*state=\"inactive\"} 0\\.0");
        }
    }

    @Test
    @Requirement("SCTP-6.3-02")
    void aPeerWithAllItsConnectionsIsRefusedAndNotRejected() {
        try (TestSidecar limited =
                        TestSidecar.start("sidewarp.sctp.udp-port", "0", "sidewarp.limits.peer-connections", "1");
                TestSession full = limited.session();
                TestSession.Listening listening = full.listen(ListenRequest.newBuilder()
                        .setSession(full.token())
                        .setAddress("127.0.0.1")
                        .setLlp(Llp.LLP_SCTP)
                        .build())) {
            Listening at = listening.address();
            ConnectRequest connect = client.connectRequest(at.getPort())
                    .setOptions(
                            ConnectionOptions.newBuilder().setLlp(Llp.LLP_SCTP).setUdpPort(at.getUdpPort()))
                    .build();
            CompletableFuture<Connection> first = client.connect(connect);
            full.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(full.token())
                            .setRequest(listening.next().getId())
                            .build());
            Waiting.join(first);

            Status status = Waiting.status(() -> client.connections().connect(connect));

            assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(status.getDescription()).contains("refused the session");
        }
    }

    private static List<Association> associations(TestSession session) {
        return session.connections()
                .listAssociations(ListAssociationsRequest.getDefaultInstance())
                .getAssociationsList();
    }

    @Test
    void receivesAreThereBeforeConnectAndAcceptReturn() {
        Region outbox = client.managed(64);
        Region inbox = server.managed(64, Access.ACCESS_LOCAL_WRITE);
        ListenRequest listen = ListenRequest.newBuilder()
                .setSession(server.token())
                .setAddress("127.0.0.1")
                .setLlp(Llp.LLP_SCTP)
                .build();
        long accepting =
                server.createConnection(ConnectionOptions.getDefaultInstance()).getId();
        try (TestQueue queue = server.queue(1);
                TestSession.Listening listening = server.listen(listen)) {
            Listening at = listening.address();
            long connecting = client.createConnection(ConnectionOptions.newBuilder()
                            .setLlp(Llp.LLP_SCTP)
                            .setUdpPort(at.getUdpPort())
                            .build())
                    .getId();
            queue.credits();
            queue.post(Works.receive(5, accepting, inbox, 0, 64).build());
            CompletableFuture<Connection> connected = client.connect(client.connectRequest(at.getPort())
                    .setConnection(connecting)
                    .build());
            server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .setConnection(accepting)
                            .setAfterPosts(1)
                            .build());
            Connection connection = Waiting.join(connected);

            client.transfer()
                    .send(SendRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(connecting)
                            .setWork(SendWork.newBuilder().addLocal(Works.sge(outbox, 0, 64)))
                            .build());

            assertThat(connection.getId()).isEqualTo(connecting);
            assertThat(connection.getLlp()).isEqualTo(Llp.LLP_SCTP);
            assertThat(queue.next().getId()).isEqualTo(5);
        }
    }

    @Test
    void saysWhatToCheckWhenNobodyAnswers() {
        Status status = Waiting.status(() -> client.connections()
                .connect(client.connectRequest(7471)
                        .setOptions(ConnectionOptions.newBuilder()
                                .setLlp(Llp.LLP_SCTP)
                                .setUdpPort(1)
                                .setTimeout(com.google.protobuf.Duration.newBuilder()
                                        .setSeconds(1)))
                        .build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(status.getDescription()).contains("SCTP");
    }

    @Test
    void aUdpPortIsChecked() {
        Status status = Waiting.status(() -> client.connections()
                .connect(client.connectRequest(7471)
                        .setOptions(ConnectionOptions.newBuilder()
                                .setLlp(Llp.LLP_SCTP)
                                .setUdpPort(65_536))
                        .build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(status.getDescription()).contains("options.udp_port");
    }
}
