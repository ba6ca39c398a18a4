// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.client.Access;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Opcode;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedReceiveQueue;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WaitStrategy;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.service.testing.TestSidecar;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests queues of the Java client over rings, between two sidecars. */
class ClientRingTest {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int SIZE = 64 * 1024;
    private static final QueueOptions RINGS = QueueOptions.defaults().withPath(QueuePath.RINGS);

    private final TestSidecar left = TestSidecar.start();
    private final TestSidecar right = TestSidecar.start();
    private final SidewarpClient sender = client(left);
    private final SidewarpClient receiver = client(right);
    private final CompletableFuture<Connection> accepted = new CompletableFuture<>();

    private Session session;
    private Session server;
    private SharedRegion source;
    private SharedRegion sink;
    private WorkQueue serverQueue;
    private Listener listener;

    private static SidewarpClient client(TestSidecar sidecar) {
        return SidewarpClient.connect(ClientOptions.defaults()
                .withTarget("unix://" + sidecar.socket())
                .withSharedVolume(sidecar.sharedVolume()));
    }

    @BeforeEach
    void listen() {
        session = sender.openSession("sender");
        server = receiver.openSession("receiver");
        source = session.createSharedRegion("source", SIZE, Access.LOCAL_WRITE);
        sink = server.createSharedRegion(
                "sink", SIZE, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
        serverQueue = server.openQueue(RINGS);
        listener = server.listen("127.0.0.1", 0, incoming -> {
            Connection created = server.createConnection();
            for (int slot = 0; slot < 32; slot++) {
                serverQueue.post(slot, WorkRequest.receive(created, sink.slice(slot * 1024L, 1024)));
            }
            accepted.complete(incoming.accept(created));
        });
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

    private Connection connect() {
        return session.connect("127.0.0.1", listener.port());
    }

    @ParameterizedTest
    @EnumSource
    void sendsArriveInReceivesThatWerePostedFirst(WaitStrategy strategy) {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(strategy));
        Connection connection = connect();
        Connection peer = accepted.join();

        for (int round = 0; round < 300; round++) {
            source.buffer().putInt(0, round);
            queue.post(
                    1000 + round,
                    WorkRequest.send(connection, source.slice(0, 64)).solicited());
            WorkCompletion sent = queue.poll(LONG).orElseThrow().orThrow();
            WorkCompletion received = serverQueue.poll(LONG).orElseThrow().orThrow();

            assertThat(sent.id()).isEqualTo(1000 + round);
            assertThat(sent.opcode()).isEqualTo(Opcode.SEND);
            assertThat(received.connection()).isEqualTo(peer.id());
            assertThat(received.length()).isEqualTo(64);
            assertThat(received.solicited()).isTrue();
            int slot = (int) received.id();
            assertThat(sink.buffer().getInt(slot * 1024)).isEqualTo(round);
            serverQueue.post(slot, WorkRequest.receive(peer, sink.slice(slot * 1024L, 1024)));
        }
    }

    @Test
    void allKindsOfWorkAreCarriedOut() throws Exception {
        WorkQueue queue = session.openQueue(RINGS);
        Connection connection = connect();
        RemoteAddress remote = sink.address();
        source.buffer().putLong(0, 4711);

        queue.submit(WorkRequest.write(connection, remote, source.slice(0, 8), source.slice(8, 8), source.slice(16, 8))
                        .flushed())
                .get()
                .orThrow();
        assertThat(sink.buffer().getLong(0)).isEqualTo(4711);
        queue.submit(WorkRequest.read(connection, remote, source.slice(1024, 8)))
                .get()
                .orThrow();
        assertThat(source.buffer().getLong(1024)).isEqualTo(4711);
        sink.segment().set(ValueLayout.JAVA_LONG, 64, 5);
        assertThat(queue.submit(WorkRequest.fetchAdd(connection, remote.plus(64), 3)
                                .into(source.slice(0, 8)))
                        .get()
                        .orThrow()
                        .original())
                .hasValue(5);
        assertThat(queue.submit(WorkRequest.compareSwap(connection, remote.plus(64), 8, 100))
                        .get()
                        .orThrow()
                        .original())
                .hasValue(8);
        assertThat(sink.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(100);
        queue.submit(WorkRequest.write(connection, remote, source.slice(0, 8)).withImmediate(-9))
                .get()
                .orThrow();
        assertThat(serverQueue.poll(LONG).orElseThrow().immediate()).hasValue(-9);
        queue.submit(WorkRequest.immediate(connection, 77)).get().orThrow();
        assertThat(serverQueue.poll(LONG).orElseThrow().immediate()).hasValue(77);
        queue.submit(WorkRequest.flush(connection)).get().orThrow();
        queue.submit(WorkRequest.send(connection)).get().orThrow();
        assertThat(serverQueue.poll(LONG).orElseThrow().length()).isZero();
        connection.close();
    }

    @Test
    void failedWorkTellsItsCause() throws Exception {
        WorkQueue queue = session.openQueue(RINGS);
        Connection connection = connect();

        WorkCompletion refused = queue.submit(
                        WorkRequest.write(connection, sink.address(), new Sge(source.id(), SIZE, 9)))
                .get();
        assertThat(refused.status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(refused.message()).isNotEmpty();
        WorkCompletion rejected = queue.submit(
                        WorkRequest.read(connection, new RemoteAddress(1, 2), source.slice(0, 8)))
                .get();
        assertThat(rejected.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(rejected.error().orElseThrow().name()).isNotEmpty();
        WorkCompletion flushed = queue.submit(WorkRequest.send(connection)).get();
        assertThat(flushed.isSuccess()).isFalse();
    }

    @Test
    void drainReturnsBehindUnsignaledWrites() {
        WorkQueue queue = session.openQueue(RINGS.withOutstanding(64));
        Connection connection = connect();
        for (int i = 0; i < 1000; i++) {
            source.buffer().putInt(0, i);
            queue.post(
                    i,
                    WorkRequest.write(connection, sink.address(), source.slice(0, 4))
                            .unsignaled());
        }

        assertThat(queue.drain(LONG)).isTrue();
        connection.flush();

        assertThat(sink.buffer().getInt(0)).isEqualTo(999);
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.poll(Duration.ZERO))
                .withMessageContaining("drained");
    }

    @Test
    void disconnectComesBehindWhatWasPostedAndTheEndBehindCompletions() throws Exception {
        WorkQueue queue = session.openQueue(RINGS.withOutstanding(256));
        Connection connection = connect();
        AtomicLong taken = new AtomicLong();
        List<Long> takenAtEnd = new ArrayList<>();
        CompletableFuture<Void> told = connection.closed().thenAccept(change -> takenAtEnd.add(taken.get()));
        for (int i = 0; i < 200; i++) {
            queue.post(i, WorkRequest.write(connection, sink.address(), source.slice(0, 128)));
        }
        CompletableFuture<Void> disconnected = connection.disconnectAsync();
        while (taken.get() < 200) {
            queue.poll(
                    completion -> {
                        assertThat(completion.isSuccess()).isTrue();
                        taken.incrementAndGet();
                    },
                    7,
                    LONG);
        }

        disconnected.get(20, TimeUnit.SECONDS);
        told.get(20, TimeUnit.SECONDS);
        assertThat(takenAtEnd).containsExactly(200L);
        assertThat(connection.state()).isEqualTo(Connection.State.CLOSED);
    }

    @Test
    void sharedReceiveQueueIsFilledThroughARing() {
        SharedReceiveQueue receives = server.createSharedReceiveQueue(16);

        serverQueue.post(1, WorkRequest.receive(receives, sink.slice(0, 64)));
        assertThat(serverQueue.poll(Duration.ofMillis(5))).isEmpty();
        receives.close();

        assertThat(serverQueue.poll(LONG).orElseThrow().status()).isEqualTo(CompletionStatus.FLUSHED);
    }

    @Test
    void handlerGetsAsManyCompletionsAsWerePosted() {
        WorkQueue queue = session.openQueue(RINGS);
        Connection connection = connect();
        AtomicLong handled = new AtomicLong();
        queue.onCompletion(completion -> handled.addAndGet(completion.isSuccess() ? 1 : 1 << 20));
        WorkRequest write = WorkRequest.write(connection, sink.address(), source.slice(0, 64));
        queue.batch(batched -> {
            for (int i = 0; i < 20_000; i++) {
                batched.post(i, write);
            }
        });

        assertThat(queue.drain(LONG)).isTrue();
        assertThat(handled).hasValue(20_000);
    }

    @Test
    void closedQueueLeavesItsSessionAsItWas() {
        for (int i = 0; i < 20; i++) {
            WorkQueue queue = session.openQueue(RINGS);
            queue.close();
        }
        Connection connection = connect();
        connection.write(source.slice(0, 8), sink.address());
        connection.flush();
    }
}
