// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.Status;
import io.sidewarp.client.Access;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.RegionOptions;
import io.sidewarp.client.Retry;
import io.sidewarp.client.Session;
import io.sidewarp.client.SessionState;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.SupervisedSession;
import io.sidewarp.client.SupervisionListener;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.service.testing.TestSidecar;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the reports of the Java client's flush and close() about data, between two sidecars. */
class ClientDeliveryTest {

    private static final int SIZE = 4096;

    private final TestSidecar left = TestSidecar.start();
    private final TestSidecar right = TestSidecar.start();
    private final SidewarpClient sender = client(left);
    private final SidewarpClient receiver = client(right);

    private Session server;
    private SharedRegion inbox;
    private ManagedRegion readOnly;
    private Listener listener;
    private final CompletableFuture<Connection> accepted = new CompletableFuture<>();

    private static SidewarpClient client(TestSidecar sidecar) {
        return SidewarpClient.connect(ClientOptions.defaults()
                .withTarget("unix://" + sidecar.socket())
                .withSharedVolume(sidecar.sharedVolume()));
    }

    @BeforeEach
    void listen() {
        server = receiver.openSession("receiver");
        inbox = server.createSharedRegion("inbox", SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ);
        readOnly = server.registerManaged(SIZE, RegionOptions.of(Access.REMOTE_READ));
        listener = server.listen("127.0.0.1", 0, incoming -> accepted.complete(incoming.accept()));
    }

    @AfterEach
    void close() {
        try (left;
                right;
                sender;
                receiver) {
            listener.close();
        }
    }

    private Connection connect(Session session) {
        return session.connect("127.0.0.1", listener.port(), ConnectionOptions.defaults());
    }

    @Test
    void flushedDataIsInThePeersMemoryEachTime() {
        try (Session session = sender.openSession("sender");
                SharedRegion source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE);
                Connection connection = connect(session)) {
            for (int round = 1; round <= 200; round++) {
                source.buffer().putInt(SIZE - Integer.BYTES, round);

                connection.write(source.slice(0, SIZE), inbox.address());
                connection.flush();

                assertThat(inbox.buffer().getInt(SIZE - Integer.BYTES)).isEqualTo(round);
            }
        }
    }

    @Test
    void closeThrowsThePeersErrorWhenItRefusedAWriteThatWasComplete() {
        SidewarpException failure = catchThrowableOfType(SidewarpException.class, () -> {
            try (Session session = sender.openSession("sender");
                    SharedRegion source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE);
                    Connection connection = connect(session)) {
                connection.write(source.slice(0, SIZE), readOnly.address());
            }
        });

        assertThat(failure.code()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(failure.retry()).isEqualTo(Retry.NEVER);
        assertThat(failure.rdmaError()).isPresent();
        assertThat(failure).hasMessageContaining("may not have arrived");
        // The session does not repeat what its connection has told.
        assertThat(failure.getSuppressed()).isEmpty();
    }

    @Test
    void exceptionOfTheBodyKeepsThatOfClose() {
        SidewarpException failure = catchThrowableOfType(SidewarpException.class, () -> {
            try (Session session = sender.openSession("sender");
                    SharedRegion source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE);
                    Connection connection = connect(session)) {
                connection.write(source.slice(0, SIZE), readOnly.address());
                connection.flush();
            }
        });

        assertThat(failure.code()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(suppressed -> assertThat(suppressed).hasMessageContaining("may not have arrived"));
    }

    @Test
    void sessionThatIsClosedAloneTellsOfItsConnection() {
        Session session = sender.openSession("sender");
        SharedRegion source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE);
        Connection connection = connect(session);
        connection.write(source.slice(0, SIZE), readOnly.address());

        SidewarpException failure = catchThrowableOfType(SidewarpException.class, session::close);

        assertThat(failure.code()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(sender.listSessions()).isEmpty();
        assertThatCode(connection::close).doesNotThrowAnyException();
    }

    @Test
    void sessionThatIsClosedAloneDeliversItsWrites() {
        Session session = sender.openSession("sender");
        SharedRegion source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE);
        source.buffer().putInt(0, 7);
        connect(session).write(source.slice(0, SIZE), inbox.address());

        session.close();

        assertThat(inbox.buffer().getInt(0)).isEqualTo(7);
    }

    @Test
    void closeBehindAResetThrowsUnavailableWithoutRdmaErrorUnlessAllWasFlushed() throws Exception {
        for (boolean flushed : new boolean[] {true, false}) {
            try (Session session = sender.openSession("sender");
                    SharedRegion source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE)) {
                CompletableFuture<Connection> peer = new CompletableFuture<>();
                try (Listener second = server.listen("127.0.0.1", 0, incoming -> peer.complete(incoming.accept()))) {
                    Connection connection = session.connect("127.0.0.1", second.port(), ConnectionOptions.defaults());
                    connection.write(source.slice(0, SIZE), inbox.address());
                    if (flushed) {
                        connection.flush();
                    }
                    peer.get().abort();
                    connection.closed().get();

                    if (flushed) {
                        assertThatCode(connection::close).doesNotThrowAnyException();
                    } else {
                        SidewarpException failure = catchThrowableOfType(SidewarpException.class, connection::close);
                        assertThat(failure.code()).isEqualTo(Status.Code.UNAVAILABLE);
                        assertThat(failure.rdmaError()).isEmpty();
                        assertThat(failure.retry()).isEqualTo(Retry.AFTER_RECONNECTING);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void supervisedSessionTellsALossAtTheFailureAndNotOnceMoreAtItsEnd(boolean listenerThrows) throws Exception {
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        CompletableFuture<Void> recovered = new CompletableFuture<>();
        SupervisionListener work = new SupervisionListener() {
            @Override
            public void onReady(SessionState state) {
                Connection peer = state.connection("peer");
                boolean first = failures.isEmpty();
                peer.write(state.region("source").slice(0, SIZE), first ? readOnly.address() : inbox.address());
                if (first && !listenerThrows) {
                    peer.closed().join();
                } else {
                    peer.flush();
                    recovered.complete(null);
                }
            }

            @Override
            public void onFailure(Throwable cause, Duration pause) {
                failures.add(cause);
            }
        };
        SupervisedSession session = sender.supervise("sender")
                .region("source", SIZE, Access.LOCAL_WRITE)
                .connect("peer", "127.0.0.1", listener.port())
                .start(work);

        recovered.get(20, TimeUnit.SECONDS);

        assertThat(failures.take().getSuppressed())
                .singleElement()
                .satisfies(loss -> assertThat(loss).hasMessageContaining("may not have arrived"));
        assertThatCode(session::close).doesNotThrowAnyException();
    }

    @Test
    void flushComesBehindWhatWasPostedOnQueues() {
        try (Session session = sender.openSession("sender");
                SharedRegion source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE);
                Connection connection = connect(session);
                WorkQueue queue = session.openQueue(8)) {
            for (int round = 1; round <= 50; round++) {
                source.buffer().putInt(0, round);

                queue.batch(posting -> {
                    posting.post(1, WorkRequest.write(connection, inbox.address(), source.slice(0, SIZE)));
                    connection.flush();
                });

                assertThat(inbox.buffer().getInt(0)).isEqualTo(round);
                queue.poll(Duration.ofSeconds(20)).orElseThrow().orThrow();
            }
        }
    }

    @Test
    void closedSessionDeliversWhatWasPostedOnQueues() {
        Session session = sender.openSession("sender");
        SharedRegion source = session.createSharedRegion("source", 500 * Long.BYTES, Access.LOCAL_WRITE);
        Connection connection = session.connect(
                "127.0.0.1",
                listener.port(),
                ConnectionOptions.builder().sendQueue(16).build());
        WorkQueue queue = session.openQueue(500);
        for (int i = 0; i < 500; i++) {
            source.buffer().putLong(i * Long.BYTES, i + 1);
            queue.post(
                    i, WorkRequest.write(connection, inbox.address().plus(i * 8L), source.slice(i * 8L, Long.BYTES)));
        }

        session.close();

        assertThat(inbox.buffer().getLong(499 * Long.BYTES)).isEqualTo(500);
    }
}
