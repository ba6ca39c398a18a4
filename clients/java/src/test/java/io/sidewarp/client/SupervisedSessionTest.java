// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CreateMode.CREATE_MODE_OPEN_OR_CREATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.OpenSessionResponse;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SupervisedSessionTest extends FakeSidecarTest {

    private static final long LENGTH = 8192;

    private final Recorder recorder = new Recorder();
    private SupervisedSession supervised;
    private StreamObserver<OpenSessionResponse> events;

    /** Records the notifications of a supervised session. */
    private static final class Recorder implements SupervisionListener {

        final BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

        /** Thrown by onReady, one after the other. */
        final Queue<Exception> trouble = new ConcurrentLinkedQueue<>();

        @Override
        public void onReady(SessionState state) throws Exception {
            states.add(state);
            Exception exception = trouble.poll();
            if (exception != null) {
                throw exception;
            }
        }

        @Override
        public void onFailure(Throwable cause, Duration pause) {
            failures.add(cause);
        }

        SessionState next() throws InterruptedException {
            return FakeSidecar.next(states);
        }
    }

    @BeforeEach
    void dropTheOtherSession() throws InterruptedException {
        sidecar.nextSession();
    }

    @AfterEach
    void endSupervision() {
        if (supervised != null) {
            supervised.close();
        }
    }

    private SupervisedSession.Builder plan() {
        return client.supervise("steady")
                .region("inbox", LENGTH, Access.REMOTE_WRITE)
                .connect("peer", "peer.example", 7471);
    }

    private SessionState start(SupervisedSession.Builder plan) throws InterruptedException {
        supervised = plan.start(recorder);
        events = sidecar.nextSession();
        return recorder.next();
    }

    private void close(Connection connection) {
        events.onNext(OpenSessionResponse.newBuilder()
                .setConnection(ConnectionStateChange.newBuilder()
                        .setConnection(connection.id())
                        .setState(ConnectionState.CONNECTION_STATE_CLOSED))
                .build());
    }

    @Test
    void firstStateHasAllThatWasDeclared() throws Exception {
        SessionState state = start(plan());

        assertThat(state.session().name()).isEqualTo("steady");
        assertThat(state.region("inbox").length()).isEqualTo(LENGTH);
        assertThat(state.region("inbox").fileExisted()).isFalse();
        assertThat(state.connection("peer").state()).isEqualTo(Connection.State.ESTABLISHED);
        assertThat(state.changed()).containsExactlyInAnyOrder("inbox", "peer");
        assertThat(sidecar.memory.lastRegistration.getShared().getCreateMode()).isEqualTo(CREATE_MODE_OPEN_OR_CREATE);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> state.region("outbox"))
                .withMessageContaining("inbox");
    }

    @Test
    void lostSessionIsFollowedByOneWithNewObjectsOverTheSameMemory() throws Exception {
        SessionState before = start(plan());
        before.region("inbox").segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 42);

        events.onCompleted();
        events = sidecar.nextSession();

        SessionState after = recorder.next();
        assertThat(before.ended()).succeedsWithin(Duration.ofSeconds(20));
        assertThat(after.ended()).isNotDone();
        assertThat(after.changed()).containsExactlyInAnyOrder("inbox", "peer");
        assertThat(after.session()).isNotSameAs(before.session());
        assertThat(after.connection("peer")).isNotSameAs(before.connection("peer"));
        SharedRegion inbox = after.region("inbox");
        assertThat(inbox.id()).isNotEqualTo(before.region("inbox").id());
        assertThat(inbox.fileExisted()).isTrue();
        assertThat(inbox.segment().address())
                .isEqualTo(before.region("inbox").segment().address());
        assertThat(before.region("inbox").segment().get(ValueLayout.JAVA_BYTE, 0))
                .isEqualTo((byte) 42);
        assertThat(FakeSidecar.next(recorder.failures)).hasMessageContaining("may be done or not");
    }

    @Test
    void memoryOfAFileThatIsGoneIsUnmappedBeforeAnotherIsAskedFor() throws Exception {
        SessionState before = start(plan());
        boolean[] mapped = {true};
        sidecar.memory.beforeRegister =
                () -> mapped[0] = before.region("inbox").segment().scope().isAlive();
        Files.delete(sidecar.volume.resolve("inbox"));

        events.onCompleted();

        SessionState after = recorder.next();
        assertThat(mapped[0]).isFalse();
        assertThat(after.region("inbox").fileExisted()).isFalse();
        assertThat(after.region("inbox").segment().get(ValueLayout.JAVA_BYTE, 0))
                .isZero();
    }

    @Test
    void closedConnectionIsFollowedByAnotherInTheSameSession() throws Exception {
        SessionState before = start(plan().connect("other", "other.example", 7472));

        close(before.connection("peer"));

        SessionState after = recorder.next();
        assertThat(before.ended()).succeedsWithin(Duration.ofSeconds(20));
        assertThat(after.changed()).containsExactly("peer");
        assertThat(after.session()).isSameAs(before.session());
        assertThat(after.region("inbox")).isSameAs(before.region("inbox"));
        assertThat(after.connection("other")).isSameAs(before.connection("other"));
        assertThat(after.connection("peer")).isNotSameAs(before.connection("peer"));
    }

    @Test
    void whatIsThereStaysUntilTheRestCanBeSetUp() throws Exception {
        SessionState before = start(plan());
        sidecar.connections.connectFailure =
                Status.UNAVAILABLE.withDescription("nobody listens").asRuntimeException();

        close(before.connection("peer"));

        FakeSidecar.next(recorder.failures);
        for (int attempt = 0; attempt < 3; attempt++) {
            assertThat(FakeSidecar.next(recorder.failures)).hasMessageContaining("nobody listens");
        }
        assertThat(recorder.states).isEmpty();
        sidecar.connections.connectFailure = null;
        SessionState after = recorder.next();
        assertThat(after.region("inbox")).isSameAs(before.region("inbox"));
        assertThat(sidecar.sessionsThatEnded).isEmpty();
    }

    @Test
    void fileThatTheEndingSessionStillHoldsIsAskedForAgain() throws Exception {
        sidecar.memory.registerFailures.add(Status.ALREADY_EXISTS
                .withDescription("region 7 of session \"steady\" created it")
                .asRuntimeException());

        SessionState state = start(plan());

        assertThat(state.region("inbox").length()).isEqualTo(LENGTH);
        assertThat(FakeSidecar.next(recorder.failures)).hasMessageContaining("region 7");
        assertThat(sidecar.sessions).isEmpty();
    }

    @Test
    void exceptionOfTheApplicationLeadsToNewConnections() throws Exception {
        recorder.trouble.add(new IllegalStateException("the peer talks nonsense"));
        SessionState before = start(plan());

        SessionState after = recorder.next();

        assertThat(FakeSidecar.next(recorder.failures)).hasMessageContaining("nonsense");
        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAbort()).isTrue();
        assertThat(after.connection("peer")).isNotSameAs(before.connection("peer"));
        assertThat(after.changed()).containsExactly("peer");
        assertThat(after.session()).isSameAs(before.session());
    }

    @Test
    void workOfALostSessionFailsAndIsNotRepeated() throws Exception {
        SessionState state = start(plan());
        FakeSidecar.next(sidecar.connections.connects);
        sidecar.connections.connectHold = new java.util.concurrent.CompletableFuture<>();
        var outstanding = state.session().connectAsync("later.example", 1, ConnectionOptions.defaults());
        FakeSidecar.next(sidecar.connections.connects);
        sidecar.connections.connectHold = null;

        events.onCompleted();

        assertThatThrownBy(() -> outstanding.get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        SidewarpException.class,
                        failure -> assertThat(failure.code()).isEqualTo(Status.Code.UNAVAILABLE))
                .hasMessageContaining("may be done or not");
        recorder.next();
        ConnectRequest again = FakeSidecar.next(sidecar.connections.connects);
        assertThat(again.getAddress()).isEqualTo("peer.example");
        assertThat(sidecar.connections.connects).isEmpty();
    }

    @Test
    void listenerListensAgainAndTellsThePresentRegions() throws Exception {
        start(client.supervise("server")
                .region("inbox", LENGTH, Access.REMOTE_WRITE)
                .listen(
                        "",
                        7471,
                        (state, incoming) -> incoming.accept(ConnectionOptions.builder()
                                .privateData(Long.toString(state.region("inbox").id())
                                        .getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                                .build())));
        FakeSidecar.next(sidecar.connections.listeners);

        events.onCompleted();

        SessionState after = recorder.next();
        FakeSidecar.next(sidecar.connections.listeners)
                .onNext(ListenResponse.newBuilder()
                        .setRequest(ConnectionRequest.newBuilder().setId(1))
                        .build());
        assertThat(FakeSidecar.next(sidecar.connections.accepts)
                        .getPrivateData()
                        .toStringUtf8())
                .isEqualTo(Long.toString(after.region("inbox").id()));
    }

    @Test
    void listenerThatEndsIsReplacedInTheSameSession() throws Exception {
        SessionState before = start(client.supervise("server").listen("", 7471, (state, incoming) -> {}));
        StreamObserver<ListenResponse> listener = FakeSidecar.next(sidecar.connections.listeners);

        listener.onError(Status.UNAVAILABLE.asRuntimeException());

        SessionState after = recorder.next();
        FakeSidecar.next(sidecar.connections.listeners);
        assertThat(after.session()).isSameAs(before.session());
    }

    @Test
    void closingEndsTheSessionAndAttempts() throws Exception {
        SessionState state = start(plan());

        supervised.close();

        assertThat(state.ended()).succeedsWithin(Duration.ofSeconds(20));
        assertThat(state.session().closed()).succeedsWithin(Duration.ofSeconds(20));
        assertThat(state.region("inbox").segment().scope().isAlive()).isFalse();
        assertThat(recorder.failures).isEmpty();
    }

    @Test
    void closingInTheMiddleOfTheApplicationsWorkEndsIt() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        supervised = plan().start(state -> {
            states.add(state);
            try {
                state.ended().get(20, TimeUnit.SECONDS);
            } finally {
                over.countDown();
            }
        });
        FakeSidecar.next(states);

        supervised.close();

        assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 6, 7, 8, 1000, Integer.MAX_VALUE})
    void pauseGrowsUpToItsLimit(int failures) {
        long whole = Math.min(
                SupervisedSession.LONGEST_PAUSE.toMillis(),
                SupervisedSession.FIRST_PAUSE.toMillis() << Math.min(failures - 1, 20));

        for (int i = 0; i < 100; i++) {
            assertThat(SupervisedSession.pause(failures))
                    .isBetween(Duration.ofMillis(whole / 2), Duration.ofMillis(whole));
        }
        assertThat(SupervisedSession.pause(0)).isZero();
    }
}
