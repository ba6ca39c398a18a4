// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.engine.linux.NativeLibrary.C;
import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;
import static io.sidewarp.provider.kernel.Native.SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a device. Runs tasks one after the other, and timed tasks when they are due. Between tasks, the thread
 * waits until a file descriptor is readable.
 */
final class VerbsLoop implements Executor {

    private static final Logger LOG = LoggerFactory.getLogger(VerbsLoop.class);

    private static final int EFD_CLOEXEC = 0x80000;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final short POLLIN = 1;
    /** Size of struct pollfd, in bytes. */
    private static final int POLLFD_LENGTH = 8;

    private static final int POLLFD_EVENTS = 4;
    private static final int POLLFD_REVENTS = 6;

    /** A file descriptor to watch. The loop runs {@code onReadable} as long as the descriptor is readable. */
    record Source(int descriptor, Runnable onReadable) {}

    private final Source[] sources;
    private final int wakeUp;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();
    private final AtomicBoolean awake = new AtomicBoolean();
    /** Lock that prevents a close of the event descriptor during a write, and a write after the close. */
    private final Object waking = new Object();

    private boolean closed;
    private final Thread thread;
    private volatile boolean ending;

    /** Creates the loop. {@link #start} starts its thread. */
    VerbsLoop(String name, Source... sources) {
        this.sources = sources;
        this.wakeUp = C.call("eventfd", 0, EFD_CLOEXEC);
        if (wakeUp < 0) {
            throw new KernelVerbsUnavailableException("cannot create an event descriptor: error " + -wakeUp, null);
        }
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    void start() {
        for (Source source : sources) {
            // A read must not block: the library itself may already have taken the event.
            C.callVariadic("fcntl", 2, source.descriptor(), F_SETFL, (long) O_NONBLOCK);
        }
        thread.start();
    }

    boolean inLoop() {
        return thread.equals(Thread.currentThread());
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (!inLoop() && awake.compareAndSet(false, true)) {
            wake();
        }
    }

    private void wake() {
        synchronized (waking) {
            if (!closed) {
                C.call("eventfd_write", wakeUp, 1L);
            }
        }
    }

    /** Runs a task on the loop after a delay, unless the timer is cancelled. Called on the loop. */
    Timer schedule(Duration delay, Runnable task) {
        Timer timer = new Timer(System.nanoTime() + delay.toNanos(), task);
        timers.add(timer);
        return timer;
    }

    /** Ends the thread after the tasks that are queued now. */
    void end() {
        execute(() -> ending = true);
        if (inLoop()) {
            return;
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment polled = arena.allocate((long) POLLFD_LENGTH * (sources.length + 1), Long.BYTES);
            MemorySegment count = arena.allocate(LONG);
            watch(polled, 0, wakeUp);
            for (int i = 0; i < sources.length; i++) {
                watch(polled, i + 1, sources[i].descriptor());
            }
            while (!ending) {
                int ready = C.call("poll", polled, (long) sources.length + 1, timeout());
                if (ready > 0) {
                    dispatch(polled, count);
                }
                runTimers();
                runTasks();
            }
        } finally {
            synchronized (waking) {
                closed = true;
                C.call("close", wakeUp);
            }
        }
    }

    private static void watch(MemorySegment polled, int index, int descriptor) {
        long offset = (long) index * POLLFD_LENGTH;
        polled.set(INT, offset, descriptor);
        polled.set(SHORT, offset + POLLFD_EVENTS, POLLIN);
    }

    private void dispatch(MemorySegment polled, MemorySegment count) {
        if (polled.get(SHORT, POLLFD_REVENTS) != 0) {
            C.call("eventfd_read", wakeUp, count);
            // A task that is added after this line wakes the thread again.
            awake.set(false);
        }
        for (int i = 0; i < sources.length; i++) {
            if (polled.get(SHORT, (i + 1L) * POLLFD_LENGTH + POLLFD_REVENTS) != 0) {
                run(sources[i].onReadable());
            }
        }
    }

    /** @return milliseconds until the next task is due, or -1 to wait for a descriptor */
    private int timeout() {
        if (!tasks.isEmpty()) {
            return 0;
        }
        Timer next = timers.peek();
        if (next == null) {
            return -1;
        }
        long nanos = Math.max(0, next.due - System.nanoTime());
        return (int) Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
    }

    private void runTimers() {
        for (Timer next = timers.peek(); next != null && next.due - System.nanoTime() <= 0; next = timers.peek()) {
            timers.remove();
            next.fire();
        }
    }

    private void runTasks() {
        // Leaves tasks that are added meanwhile for the next turn, so that descriptors get their turn.
        for (int i = tasks.size(); i > 0; i--) {
            Runnable task = tasks.poll();
            if (task != null) {
                run(task);
            }
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("a task of the RDMA device failed; others go on", e);
        }
    }

    /** A task for later. */
    static final class Timer implements Comparable<Timer> {

        private final long due;
        private final Runnable task;
        private boolean cancelled;

        private Timer(long due, Runnable task) {
            this.due = due;
            this.task = task;
        }

        /** Cancels the task. Called on the loop. */
        void cancel() {
            cancelled = true;
        }

        private void fire() {
            if (!cancelled) {
                run(task);
            }
        }

        @Override
        public int compareTo(Timer other) {
            return Long.signum(due - other.due);
        }
    }
}
