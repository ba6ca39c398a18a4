// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThatCode;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.net.sctp.kernel.KernelSctp;
import io.sidewarp.service.testing.Http;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionDrainTest {

    private static final int SIZE = 4 << 20;
    /** Number of Writes of which a transport takes only a part if the peer does not read. */
    private static final int WRITES = 16;

    private static final int FRAME_LENGTH = 20;
    private static final int PIECE = 16 << 10;
    /**
     * Number of pieces that a transport accepts for a peer that does not read. A slow peer needs more than two seconds
     * for them.
     */
    private static final int PIECES = 32;

    @Test
    void workUnderWayFinishesBeforeTheSidecarEnds() {
        try (TestSidecar peer = TestSidecar.start()) {
            TestSidecar sidecar = TestSidecar.start("sidewarp.drain-timeout", "20s");
            TestSession server = peer.session();
            TestSession client = sidecar.session();
            Region source = client.managed(SIZE);
            Region target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
            TestSession.Pair pair = client.connectTo(server);
            TestQueue queue = client.queue(200);
            queue.credits();
            List<WorkRequest> work = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                work.add(Works.write(i, pair.here().getId(), source, target, SIZE)
                        .build());
            }
            queue.post(work);
            queue.next();

            CompletableFuture<Void> closing = CompletableFuture.runAsync(sidecar::close);

            assertThat(queue.next(199))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            Waiting.join(closing);
            ConnectionState last = ConnectionState.CONNECTION_STATE_UNSPECIFIED;
            while (last != ConnectionState.CONNECTION_STATE_CLOSED) {
                last = server.nextEvent().getConnection().getState();
                // A graceful end: the peer sees no error.
                assertThat(last).isNotEqualTo(ConnectionState.CONNECTION_STATE_TERMINATED);
            }
            client.close();
            server.close();
        }
    }

    @Test
    void aPeerThatReadsSlowlyGetsAllThatWasWritten() throws IOException {
        TestSidecar sidecar = TestSidecar.start("sidewarp.drain-timeout", "20s");
        TestSession session = sidecar.session();
        Region source = session.managed(PIECES * PIECE);
        try (ServerSocket listening = new ServerSocket();
                TestQueue queue = session.queue(1)) {
            listening.setReceiveBufferSize(PIECE);
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            CompletableFuture<Connection> connecting = session.connect(
                    session.connectRequest(listening.getLocalPort()).build());
            try (Socket peer = accept(listening)) {
                queue.credits();
                queue.post(Works.write(
                                1,
                                Waiting.join(connecting).getId(),
                                source,
                                Region.getDefaultInstance(),
                                source.getLength())
                        .build());
                // The transport has it, the peer has read nothing.
                assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);

                CompletableFuture<Void> closing = CompletableFuture.runAsync(sidecar::close);

                assertThat(readSlowly(peer)).isGreaterThan(source.getLength());
                peer.close();
                Waiting.join(closing);
            }
        }
        session.close();
    }

    /** A connection in full operation. */
    private static Socket accept(ServerSocket listening) throws IOException {
        Socket peer = listening.accept();
        assertThat(peer.getInputStream().readNBytes(FRAME_LENGTH)).hasSize(FRAME_LENGTH);
        peer.getOutputStream()
                .write(ByteBuffer.allocate(FRAME_LENGTH)
                        .put("MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII))
                        .put(new byte[] {0x40, 1, 0, 0})
                        .array());
        return peer;
    }

    /** The octets that come until the sidecar closes the connection in order, which takes some seconds. */
    private static long readSlowly(Socket peer) {
        AtomicLong octets = new AtomicLong();
        byte[] piece = new byte[PIECE];
        Awaitility.await()
                .pollInterval(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(20))
                .until(() -> {
                    int read = peer.getInputStream().read(piece);
                    octets.addAndGet(Math.max(0, read));
                    return read < 0;
                });
        return octets.get();
    }

    @Test
    void aSidecarThatOutlivesSessionsServesUntilTheLastOneEnds() {
        try (TestSidecar peer = TestSidecar.start()) {
            TestSidecar sidecar =
                    TestSidecar.start("sidewarp.drain-timeout", "60s", "sidewarp.advanced.outlive-sessions", "true");
            TestSession server = peer.session();
            TestSession first = sidecar.session();

            CompletableFuture<Void> closing = CompletableFuture.runAsync(sidecar::close);
            awaitUnready(sidecar);

            // Also what begins anew: an application may need it for its own end.
            TestSession second = sidecar.session();
            first.close();
            assertThat(second.connectTo(server).here().getState())
                    .isEqualTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);
            assertThat(closing).isNotDone();
            second.close();
            Waiting.join(closing);
            server.close();
        }
    }

    @Test
    void aSidecarThatOutlivesSessionsEndsThemWhenItsTimeIsOver() {
        TestSidecar sidecar =
                TestSidecar.start("sidewarp.drain-timeout", "300ms", "sidewarp.advanced.outlive-sessions", "true");
        TestSession session = sidecar.session();

        sidecar.close();

        assertThat(Status.fromThrowable(Waiting.join(session.ended())).getCode())
                .isEqualTo(Status.Code.UNAVAILABLE);
        session.close();
    }

    private static void awaitUnready(TestSidecar sidecar) {
        InetSocketAddress management = sidecar.sidecar().managementAddress().orElseThrow();
        Awaitility.await().until(() -> Http.get(management, "/q/health/ready").statusCode() == 503);
    }

    @Test
    void whoeverUsesTheSidecarIsToldAndNothingNewBegins() throws IOException {
        TestSidecar sidecar = TestSidecar.start("sidewarp.drain-timeout", "60s");
        TestSession session = sidecar.session();
        TestSession.Listening listening = session.listen();
        listening.port();
        InetSocketAddress management = sidecar.sidecar().managementAddress().orElseThrow();
        assertThat(Http.get(management, "/q/health/ready").statusCode()).isEqualTo(200);
        try (ServerSocket peers = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TestQueue queue = session.queue(2 * WRITES)) {
            CompletableFuture<Connection> connecting =
                    session.connect(session.connectRequest(peers.getLocalPort()).build());
            // A write to this peer completes only when the peer reads.
            try (Socket peer = accept(peers)) {
                long connection = Waiting.join(connecting).getId();
                Region source = session.managed(SIZE);
                queue.credits();
                queue.post(writes(connection, source));
                assertThat(peer.getInputStream().read()).as("it is under way").isNotNegative();

                CompletableFuture<Void> closing = CompletableFuture.runAsync(sidecar::close);

                OpenSessionResponse event = session.nextEvent();
                while (!event.hasDraining()) {
                    event = session.nextEvent();
                }
                assertThat(event.getDraining().getGrace().getSeconds()).isEqualTo(60);
                assertThat(Http.get(management, "/q/health/ready").statusCode()).isEqualTo(503);
                assertThat(Http.get(management, "/q/health/live").statusCode()).isEqualTo(200);
                assertThat(Http.get(management, "/q/health/group/outbound").statusCode())
                        .isEqualTo(200);
                queue.post(writes(connection, source));
                assertThat(Status.fromThrowable(Waiting.join(listening.failure()))
                                .getCode())
                        .isEqualTo(Status.Code.UNAVAILABLE);
                assertThat(Waiting.status(() -> session.connections()
                                        .connect(session.connectRequest(1).build()))
                                .getDescription())
                        .contains("takes no new work");
                assertThat(openSession(session).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                assertThat(closing).isNotDone();
                CompletableFuture<Long> read = CompletableFuture.supplyAsync(() -> readToTheEnd(peer));
                assertThat(queue.next(2 * WRITES))
                        .extracting(WorkCompletion::getStatus)
                        .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                assertThat(Waiting.join(read)).isGreaterThan(2L * WRITES * SIZE);

                assertThat(Status.fromThrowable(Waiting.join(session.ended())).getCode())
                        .isEqualTo(Status.Code.UNAVAILABLE);
                Waiting.join(closing);
            }
        }
        assertThat(sidecar.socket()).doesNotExist();
        session.close();
    }

    /** The octets that come until the sidecar closes the connection in order; then this side closes it, too. */
    private static long readToTheEnd(Socket peer) {
        try {
            long octets = peer.getInputStream().transferTo(OutputStream.nullOutputStream());
            peer.close();
            return octets;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void anInvalidConfigurationIsAReasonNotToStart() {
        assertThatThrownBy(() -> TestSidecar.start("sidewarp.advanced.worker-threads", "0"))
                .isInstanceOf(StartFailedException.class)
                .hasMessageContaining("sidewarp.advanced.worker-threads is 0; allowed: 1 to 1024");
    }

    @Test
    void anAddressOfAnotherMachineIsAReasonNotToStart() {
        assertThatThrownBy(() -> TestSidecar.start("sidewarp.sctp.addresses", "192.0.2.1"))
                .isInstanceOf(StartFailedException.class)
                .hasMessage("sidewarp.sctp.addresses has 192.0.2.1, which is no address of this machine or pod");
        assertThatThrownBy(() -> TestSidecar.start("sidewarp.connection.listen-address", "192.0.2.1"))
                .isInstanceOf(StartFailedException.class)
                .hasMessage(
                        "sidewarp.connection.listen-address is 192.0.2.1, which is no address of this machine or pod");
    }

    @Test
    void anAddressOfAnotherMachineForHealthAndMetricsIsNamedAsSuch() {
        assertThatThrownBy(() -> TestSidecar.start("sidewarp.management.host", "192.0.2.1"))
                .isInstanceOf(StartFailedException.class)
                .hasMessageContaining("192.0.2.1")
                .hasMessageContaining("sidewarp.management.host")
                .hasMessageContaining("sidewarp.management.port");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.2", "0.0.0.0", "::"})
    void anAddressOfThisMachineOrAWildcardIsOneToListenAt(String address) {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.connection.listen-address", address);
                TestSession session = sidecar.session();
                TestSession.Listening listening = session.listen(
                        ListenRequest.newBuilder().setSession(session.token()).build())) {
            assertThat(listening.port()).isPositive();
        }
    }

    @Test
    void aKernelWithoutSctpIsAReasonNotToStartWhereItsSctpIsWanted() {
        assumeThatCode(KernelSctp::load).isInstanceOf(SctpUnavailableException.class);
        assertThatThrownBy(() -> TestSidecar.start("sidewarp.sctp.stack", "kernel"))
                .isInstanceOf(StartFailedException.class)
                .hasMessageStartingWith("sidewarp.sctp.stack is kernel, but this kernel has no SCTP")
                .hasMessageContaining("modprobe sctp");
    }

    @Test
    void aPortInUseIsAReasonNotToStartAndLeavesNothingBehind() throws Exception {
        Path directory = TestSidecar.newDirectory();
        try (TestSidecar first = TestSidecar.start()) {
            String port = Integer.toString(
                    first.sidecar().managementAddress().orElseThrow().getPort());

            assertThatThrownBy(() -> Sidecar.start(
                            TestSidecar.config(directory, "sidewarp.management.port", port),
                            "test",
                            java.util.Map.of()))
                    .isInstanceOf(StartFailedException.class)
                    .hasMessageContaining("sidewarp.management.port");
        }
        try (var files = Files.list(directory)) {
            assertThat(files).isEmpty();
        }
        TestSidecar.delete(directory);
    }

    @Test
    void aSecondSidecarAtTheSameSocketDoesNotStart() {
        try (TestSidecar first = TestSidecar.start()) {
            assertThatThrownBy(() -> TestSidecar.start(
                            "sidewarp.api.socket", first.socket().toString()))
                    .isInstanceOf(StartFailedException.class)
                    .hasMessageContaining("served by another process");
            assertThat(first.session().token()).isNotEmpty();
        }
    }

    private static List<WorkRequest> writes(long connection, Region source) {
        List<WorkRequest> work = new ArrayList<>();
        for (int i = 0; i < WRITES; i++) {
            work.add(Works.write(i, connection, source, Region.getDefaultInstance(), SIZE)
                    .build());
        }
        return work;
    }

    private static Status openSession(TestSession other) {
        CompletableFuture<Status> refused = new CompletableFuture<>();
        DeviceServiceGrpc.newStub(other.channel())
                .openSession(OpenSessionRequest.getDefaultInstance(), new StreamObserver<>() {
                    @Override
                    public void onNext(OpenSessionResponse response) {
                        refused.completeExceptionally(new AssertionError("opened"));
                    }

                    @Override
                    public void onError(Throwable failure) {
                        refused.complete(Status.fromThrowable(failure));
                    }

                    @Override
                    public void onCompleted() {}
                });
        return Waiting.join(refused);
    }
}
