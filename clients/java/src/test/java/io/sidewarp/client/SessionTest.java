// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.Draining;
import io.sidewarp.v1.EventsLost;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.RegionFault;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class SessionTest extends FakeSidecarTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    @Test
    void sessionTellsWhatTheSidecarGranted() {
        assertThat(session.id()).isEqualTo("secret-of-test");
        assertThat(session.name()).isEqualTo("test");
        assertThat(session.defaultProtectionDomain()).isEqualTo(7);
        assertThat(session.limits().maxRegions()).isEqualTo(9);
    }

    @Test
    void closingTheSessionEndsItsCall() {
        session.close();

        await().untilAsserted(() -> assertThat(sidecar.sessionsThatEnded).containsExactly("test"));
        assertThat(session.closed()).isCompleted();
    }

    @Test
    void closingTheClientEndsItsSessions() {
        CompletableFuture<Void> closed = session.closed();

        client.close();

        assertThat(closed).isCompleted();
        await().untilAsserted(() -> assertThat(sidecar.sessionsThatEnded).containsExactly("test"));
    }

    @Test
    void useAfterClosingFailsWithTheRemedy() {
        session.close();

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> session.connect("127.0.0.1", 1))
                .withMessageContaining("session \"test\" is closed")
                .withMessageContaining("SidewarpClient.openSession");
    }

    @Test
    void lostSessionFailsWhatIsOutstanding() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        CompletableFuture<WorkCompletion> write = connection.writeAsync(new Sge(1, 0, 1), new RemoteAddress(1, 0));
        CompletableFuture<ConnectionEvent> connectionClosed = connection.closed();
        WorkQueue queue = session.openQueue(4);
        CompletableFuture<WorkCompletion> submitted = queue.submit(WorkRequest.send(connection));
        Listener listener = session.listen("", 0, incoming -> {});
        CompletableFuture<SidewarpException> told = new CompletableFuture<>();
        session.onEvent(new SessionListener() {
            @Override
            public void lost(SidewarpException cause) {
                told.complete(cause);
            }
        });

        sidecar.nextSession()
                .onError(Status.UNAVAILABLE
                        .withDescription("the sidecar is stopping")
                        .asRuntimeException());

        for (CompletableFuture<?> outstanding :
                List.of(write, connectionClosed, submitted, listener.closed(), session.closed())) {
            SidewarpException cause =
                    catchThrowableOfType(SidewarpException.class, () -> CallFuture.await(outstanding));
            assertThat(cause.code()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(cause)
                    .hasMessageContaining("session \"test\" was lost")
                    .hasMessageContaining("the sidecar is stopping")
                    .hasMessageContaining("SidewarpClient.awaitReady");
        }
        await().untilAsserted(() -> assertThat(told).isCompleted());
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.tryPost(1, WorkRequest.send(connection)))
                .withMessageContaining("session \"test\" was lost");
    }

    @Test
    void callbacksThatThrowKeepNothingFromBeingToldOfTheLoss() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        List<CompletableFuture<?>> outstanding = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            WorkQueue queue = session.openQueue(4);
            queue.onCompletion(new CompletionHandler() {
                @Override
                public void onCompletion(WorkCompletion completion) {}

                @Override
                public void onFailure(SidewarpException cause) {
                    throw new IllegalStateException("thrown by the test");
                }
            });
            outstanding.add(queue.submit(WorkRequest.send(connection)));
            outstanding.add(connection.writeAsync(new Sge(1, 0, 1), new RemoteAddress(1, 0)));
        }
        outstanding.add(session.closed());
        CompletableFuture<SidewarpException> told = new CompletableFuture<>();
        session.onEvent(new SessionListener() {
            @Override
            public void lost(SidewarpException cause) {
                throw new IllegalStateException("thrown by the test");
            }
        });
        session.onEvent(new SessionListener() {
            @Override
            public void lost(SidewarpException cause) {
                told.complete(cause);
            }
        });

        sidecar.nextSession().onError(Status.UNAVAILABLE.asRuntimeException());

        for (CompletableFuture<?> future : outstanding) {
            assertThat(future)
                    .failsWithin(LONG)
                    .withThrowableThat()
                    .havingCause()
                    .withMessageContaining("was lost");
        }
        assertThat(told).succeedsWithin(LONG);
    }

    @Test
    void diedSidecarFailsWhatIsOutstanding() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        CompletableFuture<WorkCompletion> write = connection.writeAsync(new Sge(1, 0, 1), new RemoteAddress(1, 0));
        WorkQueue queue = session.openQueue(4);
        CompletableFuture<WorkCompletion> submitted = queue.submit(WorkRequest.send(connection));

        sidecar.close();

        for (CompletableFuture<?> outstanding : List.of(write, submitted, session.closed())) {
            SidewarpException cause =
                    catchThrowableOfType(SidewarpException.class, () -> CallFuture.await(outstanding));
            assertThat(cause.code()).isEqualTo(Status.Code.UNAVAILABLE);
        }
    }

    @Test
    void regionsAndConnectionsOfALostSessionCloseQuietly() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        SharedRegion region = session.createSharedRegion("r", 4096);
        ProtectionDomain domain = session.allocateProtectionDomain();
        sidecar.nextSession().onCompleted();
        await().untilAsserted(() -> assertThat(session.closed()).isCompletedExceptionally());

        region.close();
        connection.close();
        domain.close();
        session.close();

        assertThat(region.segment().scope().isAlive()).isFalse();
    }

    @Test
    void eventsArriveInOrderOnAThreadThatMayBlock() throws Exception {
        BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
        session.onEvent(new SessionListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                seen.add(client.device().provider());
                seen.add(event.message());
            }

            @Override
            public void regionFault(long region, String message) {
                seen.add(region);
            }

            @Override
            public void draining(Duration grace) {
                seen.add(grace);
            }
        });
        StreamObserver<OpenSessionResponse> events = sidecar.nextSession();

        events.onNext(OpenSessionResponse.newBuilder()
                .setConnection(
                        ConnectionStateChange.newBuilder().setConnection(3).setMessage("gone"))
                .build());
        events.onNext(OpenSessionResponse.newBuilder()
                .setRegionFault(RegionFault.newBuilder().setRegion(12))
                .build());
        events.onNext(OpenSessionResponse.newBuilder()
                .setDraining(Draining.newBuilder().setGrace(Protos.duration(Duration.ofMillis(1500))))
                .build());

        assertThat(FakeSidecar.next(seen)).isEqualTo("fake");
        assertThat(FakeSidecar.next(seen)).isEqualTo("gone");
        assertThat(FakeSidecar.next(seen)).isEqualTo(12L);
        assertThat(FakeSidecar.next(seen)).isEqualTo(Duration.ofMillis(1500));
    }

    @Test
    void aConnectionWhoseEndIsAmongTheEventsThatWereLostIsClosed() throws Exception {
        BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
        session.onEvent(new SessionListener() {
            @Override
            public void eventsLost(long count) {
                seen.add(count);
            }
        });
        Connection open = session.connect("127.0.0.1", 1);
        Connection gone = session.connect("127.0.0.1", 1);
        sidecar.connections.connections.remove(gone.id());

        sidecar.nextSession()
                .onNext(OpenSessionResponse.newBuilder()
                        .setEventsLost(EventsLost.newBuilder().setCount(4711))
                        .build());

        assertThat(FakeSidecar.next(seen)).isEqualTo(4711L);
        assertThat(gone.closed().get(20, TimeUnit.SECONDS).state()).isEqualTo(Connection.State.CLOSED);
        assertThat(open.closed()).isNotDone();
    }

    @Test
    void connectionFollowsTheStateThatTheSessionTells() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        assertThat(connection.state()).isEqualTo(Connection.State.ESTABLISHED);
        StreamObserver<OpenSessionResponse> events = sidecar.nextSession();

        events.onNext(change(connection.id(), ConnectionState.CONNECTION_STATE_TERMINATED, "CRC error"));
        events.onNext(change(connection.id(), ConnectionState.CONNECTION_STATE_CLOSED, "over"));

        assertThat(CallFuture.await(connection.closed()).message()).isEqualTo("over");
        assertThat(connection.state()).isEqualTo(Connection.State.CLOSED);
        connection.close();
        // Only the sidecar knows whether everything had arrived before the error.
        assertThat(sidecar.connections.disconnects).hasSize(1);
    }

    @Test
    void connectionThatClosedGracefullyIsNotDisconnectedAgain() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);

        sidecar.nextSession().onNext(change(connection.id(), ConnectionState.CONNECTION_STATE_CLOSED, "over"));

        CallFuture.await(connection.closed());
        connection.close();
        assertThat(sidecar.connections.disconnects).isEmpty();
    }

    @Test
    void stateThatOvertakesTheAnswerOfConnectIsNotLost() throws Exception {
        StreamObserver<OpenSessionResponse> events = sidecar.nextSession();
        BlockingQueue<Long> seen = new LinkedBlockingQueue<>();
        session.onEvent(new SessionListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                seen.add(event.connection());
            }
        });
        events.onNext(change(101, ConnectionState.CONNECTION_STATE_CLOSED, "at once"));
        assertThat(FakeSidecar.next(seen)).isEqualTo(101);

        Connection connection = session.connect("127.0.0.1", 1);

        assertThat(connection.id()).isEqualTo(101);
        assertThat(CallFuture.await(connection.closed()).message()).isEqualTo("at once");
    }

    @Test
    void sidecarThatDoesNotAnswerIsNotWaitedForLongerThanTheCallTimeout() {
        sidecar.transfer.credits = 0;
        sidecar.connections.answersListen = false;
        try (SidewarpClient impatient =
                        SidewarpClient.connect(sidecar.options().withCallTimeout(Duration.ofMillis(500)));
                Session own = impatient.openSession("impatient")) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> own.openQueue(0))
                    .withMessageContaining("did not open a queue within 500 ms")
                    .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED));
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> own.listen("", 0, incoming -> {}))
                    .withMessageContaining("did not listen within 500 ms");
        }
    }

    @Test
    void nothingIsKeptOfConnectionsAndWatchesThatEnded() throws Exception {
        StreamObserver<OpenSessionResponse> events = sidecar.nextSession();
        events.onNext(change(101, ConnectionState.CONNECTION_STATE_CLOSED, "over"));
        List<WeakReference<?>> references = watchOnce();

        await().atMost(LONG).untilAsserted(() -> {
            System.gc();
            assertThat(references).allMatch(reference -> reference.refersTo(null));
        });
    }

    /** References to a connection that is closed already and to the listener of its watch, which nobody else has then. */
    private List<WeakReference<?>> watchOnce() {
        Connection connection = session.connect("127.0.0.1", 1);
        CompletableFuture<Void> last = new CompletableFuture<>();
        Consumer<ConnectionEvent> listener = event -> {
            if (event.state() == Connection.State.CLOSED) {
                last.complete(null);
            }
        };
        connection.watch(listener);
        assertThat(last).succeedsWithin(LONG);
        assertThat(connection.closed()).succeedsWithin(LONG);
        return List.of(new WeakReference<>(connection), new WeakReference<>(listener));
    }

    @Test
    void protectionDomainInUseIsNotGivenBack() {
        ProtectionDomain domain = session.allocateProtectionDomain();

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(domain::close)
                .withMessage("protection domain " + domain.id() + " is in use (FAILED_PRECONDITION)")
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.FAILED_PRECONDITION));
    }

    @Test
    void interruptedThreadIsToldWhetherItsProtectionDomainIsGivenBack() {
        ProtectionDomain domain = session.allocateProtectionDomain();
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(domain::close)
                .withMessageContaining("is in use");

        assertThat(Thread.interrupted()).isTrue();
    }

    private static OpenSessionResponse change(long connection, ConnectionState state, String message) {
        return OpenSessionResponse.newBuilder()
                .setConnection(ConnectionStateChange.newBuilder()
                        .setConnection(connection)
                        .setState(state)
                        .setMessage(message))
                .build();
    }
}
