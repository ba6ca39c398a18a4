// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REMOTE_ACCESS_ERROR;
import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectResponse;
import io.sidewarp.v1.ConnectionRejected;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.CrcPreference;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.RdmaError;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ConnectionTest extends FakeSidecarTest {

    private static final RdmaError BOUNDS = RdmaError.newBuilder()
            .setLayer(1)
            .setType(1)
            .setCode(1)
            .setName("Base or bounds violation")
            .setRemote(true)
            .build();

    private static final Sge SGE = new Sge(5, 0, 64);
    private static final RemoteAddress REMOTE = new RemoteAddress(0x77, 0);

    @Test
    void connectSendsAllOptions() throws Exception {
        ConnectionOptions options = ConnectionOptions.builder()
                .ird(4)
                .ord(2)
                .crc(false)
                .receiveMarkers(true)
                .sendQueue(100)
                .receiveQueue(200)
                .maxFpdu(1500)
                .timeout(Duration.ofMillis(2500))
                .privateData(new byte[] {1, 2, 3})
                .build();

        session.connect("peer", 4791, options);

        ConnectRequest request = FakeSidecar.next(sidecar.connections.connects);
        assertThat(request.getSession()).isEqualTo(session.id());
        assertThat(request.getAddress()).isEqualTo("peer");
        assertThat(request.getPort()).isEqualTo(4791);
        assertThat(request.getPrivateData()).isEqualTo(ByteString.copyFrom(new byte[] {1, 2, 3}));
        assertThat(request.getOptions())
                .isEqualTo(io.sidewarp.v1.ConnectionOptions.newBuilder()
                        .setIrd(4)
                        .setOrd(2)
                        .setCrc(CrcPreference.CRC_PREFERENCE_OFF)
                        .setReceiveMarkers(true)
                        .setSendQueue(100)
                        .setReceiveQueue(200)
                        .setMaxFpdu(1500)
                        .setTimeout(Protos.duration(Duration.ofMillis(2500)))
                        .build());
    }

    @Test
    void connectionIsAbortedWhenItComesAfterItsFutureTimedOut() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        sidecar.connections.connectHold = hold;
        CompletableFuture<Connection> connecting = session.connectAsync("127.0.0.1", 1, ConnectionOptions.defaults());
        FakeSidecar.next(sidecar.connections.connects);
        connecting.orTimeout(1, TimeUnit.MILLISECONDS);
        assertThat(connecting).failsWithin(Duration.ofSeconds(20));

        hold.complete(null);

        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isTrue();
        assertThat(sidecar.connections.cancelled.availablePermits()).isZero();
    }

    @Test
    void connectionThatNobodyWaitsForAnyMoreIsAborted() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        sidecar.connections.connectHold = hold;
        GrpcSession own = (GrpcSession) session;
        CallFuture<ConnectResponse> call = own.start(
                ConnectionServiceGrpc.getConnectMethod(), ConnectRequest.getDefaultInstance(), CallOptions.DEFAULT);
        AtomicReference<CompletableFuture<Connection>> connecting = new AtomicReference<>();
        connecting.set(ConnectionCalls.made(call, response -> {
            connecting.get().cancel(true);
            return own.adopt(response.getConnection(), ConnectionOptions.defaults());
        }));

        hold.complete(null);

        DisconnectRequest disconnect = FakeSidecar.next(sidecar.connections.disconnects);
        assertThat(disconnect.getAbort()).isTrue();
        assertThat(connecting.get()).isCancelled();
    }

    @Test
    void rejectionCarriesThePeersPrivateData() {
        sidecar.connections.connectFailure = FakeSidecar.error(
                Status.ABORTED.withDescription("the peer rejected the connection"),
                ConnectionRejected.newBuilder()
                        .setPrivateData(ByteString.copyFromUtf8("full"))
                        .build());

        ConnectionRejectedException rejection =
                catchThrowableOfType(ConnectionRejectedException.class, () -> session.connect("127.0.0.1", 1));

        assertThat(rejection.privateData()).isEqualTo("full".getBytes(StandardCharsets.UTF_8));
        assertThat(rejection).hasMessage("the peer rejected the connection (ABORTED)");
    }

    @Test
    void protocolErrorOfAFailedCallIsDecoded() {
        Connection connection = session.connect("127.0.0.1", 1);
        sidecar.transfer.writeFailure =
                FakeSidecar.error(Status.OUT_OF_RANGE.withDescription("the peer's region ends before"), BOUNDS);

        SidewarpException failure = catchThrowableOfType(SidewarpException.class, () -> connection.write(SGE, REMOTE));

        assertThat(failure.code()).isEqualTo(Status.Code.OUT_OF_RANGE);
        assertThat(failure.rdmaError()).contains(Descriptions.error(BOUNDS));
        assertThat(failure)
                .hasMessage("the peer's region ends before (OUT_OF_RANGE)"
                        + " [the peer reported DDP error 1/1: Base or bounds violation]");
    }

    @Test
    void statusWithoutWordsStillMakesAMessage() {
        Connection connection = session.connect("127.0.0.1", 1);
        sidecar.transfer.writeFailure = Status.PERMISSION_DENIED.asRuntimeException();

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> connection.write(SGE, REMOTE))
                .withMessage("the sidecar gave no reason (PERMISSION_DENIED)");
    }

    @Test
    void successfulWriteReturnsItsCompletion() {
        Connection connection = session.connect("127.0.0.1", 1);
        sidecar.transfer.writeCompletion =
                completion(COMPLETION_STATUS_SUCCESS).setLength(64).build();

        WorkCompletion completion = connection.write(SGE, REMOTE);

        assertThat(completion.opcode()).isEqualTo(io.sidewarp.client.Opcode.WRITE);
        assertThat(completion.length()).isEqualTo(64);
    }

    @Test
    void atomicOperationsAreOneCallAndReturnWhatTheyFound() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);

        assertThat(connection.fetchAdd(REMOTE, 3)).isEqualTo(41);

        PerformRequest request = FakeSidecar.next(sidecar.transfer.performs);
        assertThat(request.getSession()).isEqualTo(session.id());
        assertThat(request.getWork().getConnection()).isEqualTo(connection.id());
        assertThat(request.getWork().getFetchAdd().getAdd()).isEqualTo(3);
        assertThat(connection.compareSwap(REMOTE, 1, 2)).isEqualTo(41);
    }

    @Test
    void completionWithoutSuccessIsThrown() {
        Connection connection = session.connect("127.0.0.1", 1);
        sidecar.transfer.writeCompletion = completion(COMPLETION_STATUS_REMOTE_ACCESS_ERROR)
                .setError(BOUNDS)
                .setMessage("the peer refused")
                .setCode(Status.Code.OUT_OF_RANGE.value())
                .build();

        WorkFailedException failure =
                catchThrowableOfType(WorkFailedException.class, () -> connection.write(SGE, REMOTE));

        assertThat(failure.code()).isEqualTo(Status.Code.OUT_OF_RANGE);
        assertThat(failure.rdmaError()).contains(Descriptions.error(BOUNDS));
        assertThat(failure.completion().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(failure).hasMessageContaining("the peer refused");
    }

    @Test
    void receivePostsItsMemory() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        sidecar.transfer.receiveCompletion = completion(COMPLETION_STATUS_SUCCESS)
                .setOpcode(Opcode.OPCODE_RECEIVE)
                .build();

        WorkCompletion received = connection.receive(SGE);

        assertThat(received.isSuccess()).isTrue();
        assertThat(FakeSidecar.next(sidecar.transfer.receives).getWork().getLocal(0))
                .isEqualTo(Protos.sge(SGE));
    }

    @Test
    void infoIsAskedOfTheSidecar() {
        Connection connection = session.connect("127.0.0.1", 1);

        assertThat(connection.info().remotePort()).isOne();
        sidecar.connections.connections.clear();
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(connection::info)
                .withMessageContaining("is closed and gone");
    }

    @Test
    void closeDisconnectsInOrderAndToleratesThatItIsGone() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);

        connection.close();
        connection.close();

        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isFalse();
    }

    @Test
    void interruptedThreadDisconnectsWhatItCloses() throws Exception {
        Connection closed = session.connect("127.0.0.1", 1);
        Connection aborted = session.connect("127.0.0.1", 1);
        Thread.currentThread().interrupt();

        closed.close();
        aborted.abort();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(sidecar.connections.connections).isEmpty();
        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isFalse();
        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isTrue();
    }

    @Test
    void closeToleratesThatTheConnectionIsGoneWhenItIsAbortedInTheEnd() throws Exception {
        sidecar.connections.answersDisconnect = false;
        try (SidewarpClient impatient =
                        SidewarpClient.connect(sidecar.options().withCallTimeout(Duration.ofMillis(500)));
                Session own = impatient.openSession("impatient")) {
            Connection connection = own.connect("127.0.0.1", 1);

            connection.close();
        }
        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isFalse();
        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isTrue();
    }

    @Test
    void abortDisconnectsAtOnce() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);

        connection.abort();

        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isTrue();
    }

    @Test
    void failureOfADisconnectIsToldLikeThatOfOtherWork() {
        Connection connection = session.connect("127.0.0.1", 1);
        sidecar.connections.connections.clear();

        Throwable told = connection
                .disconnectAsync()
                .handle((ignored, failure) -> failure)
                .orTimeout(20, TimeUnit.SECONDS)
                .join();

        assertThat(told).isInstanceOf(SidewarpException.class);
    }

    @Test
    void watchTellsEachState() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        BlockingQueue<Connection.State> states = new LinkedBlockingQueue<>();

        try (Subscription watch = connection.watch(change -> states.add(change.state()))) {
            assertThat(watch).isNotNull();
            assertThat(FakeSidecar.next(states)).isEqualTo(Connection.State.ESTABLISHED);
            assertThat(FakeSidecar.next(states)).isEqualTo(Connection.State.CLOSING);
            assertThat(FakeSidecar.next(states)).isEqualTo(Connection.State.CLOSED);
        }
    }

    @Test
    void incomingConnectionIsAcceptedByItsHandlerWhichMayBlock() throws Exception {
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        try (Listener listener = session.listen(
                "",
                0,
                incoming -> accepted.add(incoming.accept(ConnectionOptions.builder()
                        .privateData(incoming.privateData())
                        .build())))) {
            assertThat(listener.address()).isEqualTo("127.0.0.1");
            assertThat(listener.port()).isEqualTo(4791);

            FakeSidecar.next(sidecar.connections.listeners).onNext(request(55, "hello"));

            AcceptRequest accept = FakeSidecar.next(sidecar.connections.accepts);
            assertThat(accept.getRequest()).isEqualTo(55);
            assertThat(accept.getPrivateData().toStringUtf8()).isEqualTo("hello");
            assertThat(FakeSidecar.next(accepted).established().remotePort()).isEqualTo(9);
        }
    }

    @Test
    void incomingConnectionIsRejectedWithPrivateData() throws Exception {
        try (Listener listener = session.listen("", 0, incoming -> incoming.reject(new byte[] {9}))) {
            FakeSidecar.next(sidecar.connections.listeners).onNext(request(56, ""));

            assertThat(FakeSidecar.next(sidecar.connections.rejects).getPrivateData())
                    .isEqualTo(ByteString.copyFrom(new byte[] {9}));
            assertThat(listener.closed()).isNotDone();
        }
    }

    @Test
    void failingHandlerRejectsAndTheListenerGoesOn() throws Exception {
        try (Listener listener = session.listen("", 0, incoming -> {
            if (incoming.id() == 57) {
                throw new IllegalStateException("thrown by the test");
            }
            throw new AssertionError("thrown by the test");
        })) {
            var server = FakeSidecar.next(sidecar.connections.listeners);

            server.onNext(request(57, ""));
            assertThat(FakeSidecar.next(sidecar.connections.rejects).getRequest())
                    .isEqualTo(57);
            server.onNext(request(58, ""));
            assertThat(FakeSidecar.next(sidecar.connections.rejects).getRequest())
                    .isEqualTo(58);
            assertThat(listener.closed()).isNotDone();
        }
    }

    @Test
    void aRequestCanBeDecidedAgainAfterARefusedAccept() throws Exception {
        sidecar.connections.acceptFailures.add(Status.INVALID_ARGUMENT.asRuntimeException());
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        try (Listener listener = session.listen("", 0, incoming -> {
            assertThatExceptionOfType(SidewarpException.class).isThrownBy(incoming::accept);
            accepted.add(incoming.accept());
        })) {
            FakeSidecar.next(sidecar.connections.listeners).onNext(request(59, ""));

            assertThat(FakeSidecar.next(accepted).established().remotePort()).isEqualTo(9);
            assertThat(sidecar.connections.rejects).isEmpty();
            assertThat(listener.closed()).isNotDone();
        }
    }

    @Test
    void twoDecisionsAtATimeAreRefusedAndTheFirstGoesOn() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        sidecar.connections.acceptHold = hold;
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        try (Listener listener = session.listen("", 0, incoming -> {
            CompletableFuture<Connection> accepting = incoming.acceptAsync(ConnectionOptions.defaults());
            SidewarpException second = catchThrowableOfType(SidewarpException.class, incoming::reject);
            assertThat(second.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThat(second).hasMessageContaining("request 60 is being accepted or rejected");
            hold.complete(null);
            accepted.add(CallFuture.await(accepting));
        })) {
            FakeSidecar.next(sidecar.connections.listeners).onNext(request(60, ""));

            assertThat(FakeSidecar.next(accepted).established().remotePort()).isEqualTo(9);
            assertThat(sidecar.connections.rejects).isEmpty();
            assertThat(listener.closed()).isNotDone();
        }
    }

    @Test
    void acceptedConnectionIsAbortedWhenItComesAfterItsFutureTimedOut() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        sidecar.connections.acceptHold = hold;
        BlockingQueue<CompletableFuture<Connection>> started = new LinkedBlockingQueue<>();
        try (Listener listener =
                session.listen("", 0, incoming -> started.add(incoming.acceptAsync(ConnectionOptions.defaults())))) {
            FakeSidecar.next(sidecar.connections.listeners).onNext(request(62, ""));
            FakeSidecar.next(sidecar.connections.accepts);
            CompletableFuture<Connection> accepting = FakeSidecar.next(started);
            accepting.orTimeout(1, TimeUnit.MILLISECONDS);
            assertThat(accepting).failsWithin(Duration.ofSeconds(20));

            hold.complete(null);

            assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort())
                    .isTrue();
            assertThat(sidecar.connections.cancelled.availablePermits()).isZero();
            assertThat(listener.closed()).isNotDone();
        }
    }

    @Test
    void handlerThatFailsWhileItAcceptsRejectsOnceTheAcceptIsRefused() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        sidecar.connections.acceptHold = hold;
        sidecar.connections.acceptFailures.add(Status.RESOURCE_EXHAUSTED.asRuntimeException());
        try (Listener listener = session.listen("", 0, incoming -> {
            incoming.acceptAsync(ConnectionOptions.defaults());
            throw new IllegalStateException("thrown by the test");
        })) {
            FakeSidecar.next(sidecar.connections.listeners).onNext(request(61, ""));
            FakeSidecar.next(sidecar.connections.accepts);
            assertThat(sidecar.connections.rejects).isEmpty();

            hold.complete(null);

            assertThat(FakeSidecar.next(sidecar.connections.rejects).getRequest())
                    .isEqualTo(61);
            assertThat(listener.closed()).isNotDone();
        }
    }

    @Test
    void listenerThatTheSidecarEndsFails() throws Exception {
        Listener listener = session.listen("", 0, IncomingConnection::reject);

        FakeSidecar.next(sidecar.connections.listeners)
                .onError(Status.UNAVAILABLE.withDescription("draining").asRuntimeException());

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> CallFuture.await(listener.closed()))
                .withMessageContaining("draining");
    }

    private static ListenResponse request(long id, String privateData) {
        return ListenResponse.newBuilder()
                .setRequest(ConnectionRequest.newBuilder()
                        .setId(id)
                        .setRemoteAddress("127.0.0.9")
                        .setRemotePort(9)
                        .setPrivateData(ByteString.copyFromUtf8(privateData)))
                .build();
    }

    private static io.sidewarp.v1.WorkCompletion.Builder completion(io.sidewarp.v1.CompletionStatus status) {
        return io.sidewarp.v1.WorkCompletion.newBuilder()
                .setOpcode(Opcode.OPCODE_WRITE)
                .setStatus(status);
    }
}
