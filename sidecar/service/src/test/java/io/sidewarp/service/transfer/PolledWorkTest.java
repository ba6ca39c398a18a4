// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.testing.TestSidecar;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests when completions are sent to the application. */
class PolledWorkTest {

    private final Path directory = TestSidecar.newDirectory();
    private final Telemetry telemetry =
            Telemetry.create(TestSidecar.config(directory).advanced().telemetry(), "test", Map.of());
    private final EventLoop loop = new DefaultEventLoop();
    private final Completed completed = new Completed();
    private final Messages messages = new Messages();
    private final Work work = new Work();

    @BeforeEach
    void begin() throws Exception {
        onLoop(work::begin);
    }

    @AfterEach
    void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        telemetry.close();
        TestSidecar.delete(directory);
    }

    @Test
    void whatAStreamCompletesWhenItGoesOnGoesOutWithWhatItHadCompleted() throws Exception {
        onLoop(() -> {
            complete(1);
            complete(2);
            loop.execute(() -> complete(3));
        });
        awaitTasks();

        assertThat(messages.sent).containsExactly(List.of(1L, 2L, 3L));
    }

    @Test
    void completionsDoNotWaitForAStreamThatGoesOnAndOn() throws Exception {
        onLoop(() -> goOn(1, 10));
        awaitTasks();

        assertThat(messages.sent).hasSizeGreaterThan(2).first().isEqualTo(List.of(1L, 2L, 3L));
        assertThat(messages.sent.stream().flatMap(List::stream))
                .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
    }

    private void goOn(long id, long last) {
        complete(id);
        if (id < last) {
            loop.execute(() -> goOn(id + 1, last));
        }
    }

    private void complete(long id) {
        completed.add(work.slots().take(messages, id, true, false, 0));
    }

    private void onLoop(Runnable task) throws Exception {
        loop.submit(task).get(10, TimeUnit.SECONDS);
    }

    /** Tasks that tasks left, some times over. */
    private void awaitTasks() throws Exception {
        for (int i = 0; i < 50; i++) {
            onLoop(() -> {});
        }
    }

    private final class Work extends PolledWork {

        Work() {
            super(completed, loop, telemetry.work().meter());
        }

        @Override
        long completed(Cqe completion, boolean receive) {
            return 1;
        }

        @Override
        void publish() {}

        @Override
        void resumeWaiting() {}
    }

    /** Records each flush as a message. */
    private static final class Messages implements CompletionTarget {

        private final List<List<Long>> sent = new ArrayList<>();
        private List<Long> next = new ArrayList<>();

        @Override
        public void complete(long connection, long id, boolean signaled, Cqe completion) {
            next.add(id);
        }

        @Override
        public void flush() {
            sent.add(next);
            next = new ArrayList<>();
        }
    }

    /** A completion queue that calls its listener once for each request. */
    private static final class Completed implements CompletionQueue {

        private final Deque<Integer> slots = new ArrayDeque<>();
        private @Nullable Runnable listener;

        void add(int slot) {
            slots.add(slot);
            Runnable waiting = listener;
            listener = null;
            if (waiting != null) {
                waiting.run();
            }
        }

        @Override
        public int poll(Cqe[] into) {
            int count = 0;
            while (count < into.length && !slots.isEmpty()) {
                into[count++].set(slots.remove(), 1, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS, 8);
            }
            return count;
        }

        @Override
        public void requestNotification(Runnable newListener, boolean solicitedOnly) {
            listener = newListener;
        }

        @Override
        public int capacity() {
            return Integer.MAX_VALUE;
        }

        @Override
        public boolean isOverrun() {
            return false;
        }

        @Override
        public void close() {}
    }
}
