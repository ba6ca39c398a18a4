// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.netty.channel.EventLoop;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * Tells a loop which sockets are ready. A thread sleeps in epoll for the loop, because the loop's own epoll takes only
 * sockets of its own library. While the loop handles the ready sockets, the thread waits.
 *
 * <p>The loop itself checks for more ready sockets before it lets the thread sleep again, so that a busy loop rarely
 * needs the thread. Events are edge-triggered.
 */
final class EventPoller {

    /** Handles a ready socket, on the loop. */
    @FunctionalInterface
    interface Handler {

        /** @param writable whether the socket may have room to send; otherwise it is ready for input only */
        void onReady(boolean writable);
    }

    private static final int EVENTS = 64;
    /** Most times that the loop checks for more ready sockets before it does other work. */
    private static final int ROUNDS = 8;

    /** True if struct epoll_event is packed, as on x86-64 only. */
    private static final boolean PACKED = "amd64".equals(System.getProperty("os.arch"));

    private static final int EVENT_LENGTH = PACKED ? 12 : 16;
    private static final int DATA_OFFSET = PACKED ? 4 : 8;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** Key of the descriptor that {@link #end} makes ready; sockets have other keys. */
    private static final int WAKE_UP = 0;

    private final EventLoop loop;
    private final Consumer<Throwable> faults;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment events = arena.allocate((long) EVENTS * EVENT_LENGTH, Long.BYTES);
    private final MemorySegment registration = arena.allocate(EVENT_LENGTH, Long.BYTES);
    private final MemorySegment threadState = NativeFunction.newCallState(arena);
    private final MemorySegment loopState = NativeFunction.newCallState(arena);
    private final int epoll;
    private final int wakeUp;
    private final Semaphore turn = new Semaphore(0);
    private final Runnable dispatch = this::dispatch;
    private final IntObjectMap<Handler> handlers = new IntObjectHashMap<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private int found;
    private int lastKey = WAKE_UP;
    private volatile boolean ending;

    /**
     * Starts the thread. Call this on the loop.
     *
     * @param faults takes exceptions of a handler; the other sockets still get their turn
     */
    EventPoller(EventLoop loop, Consumer<Throwable> faults, String name) {
        this.loop = loop;
        this.faults = faults;
        this.epoll = SystemCalls.EPOLL_CREATE.call(loopState, KernelConstants.EPOLL_CLOEXEC);
        this.wakeUp = SystemCalls.EVENT.call(loopState, 0, KernelConstants.EFD_CLOEXEC);
        try {
            SctpErrors.check("epoll_create1", epoll);
            SctpErrors.check("eventfd", wakeUp);
            register(wakeUp, WAKE_UP, KernelConstants.EPOLLIN);
            Thread.ofPlatform().name(name).daemon().start(this::run);
        } catch (RuntimeException | Error e) {
            release();
            throw e;
        }
    }

    /** Releases the descriptors and the memory. Called when the thread did not start, or at its end. */
    private void release() {
        if (epoll >= 0) {
            SystemCalls.CLOSE.call(threadState, epoll);
        }
        if (wakeUp >= 0) {
            SystemCalls.CLOSE.call(threadState, wakeUp);
        }
        arena.close();
    }

    private void register(int descriptor, int key, int wanted) {
        registration.set(INT, 0, wanted);
        registration.set(INT, DATA_OFFSET, key);
        registration.set(INT, DATA_OFFSET + Integer.BYTES, 0);
        SctpErrors.check(
                "epoll_ctl",
                SystemCalls.EPOLL_CONTROL.call(
                        loopState, epoll, KernelConstants.EPOLL_CTL_ADD, descriptor, registration.address()));
    }

    /**
     * Begins to watch a socket. Call this on the loop.
     *
     * @return the key for {@link #remove}
     */
    int add(int socket, Handler handler) {
        lastKey = lastKey == Integer.MAX_VALUE ? WAKE_UP + 1 : lastKey + 1;
        register(socket, lastKey, KernelConstants.EPOLLIN | KernelConstants.EPOLLOUT | KernelConstants.EPOLLET);
        handlers.put(lastKey, handler);
        return lastKey;
    }

    /** Stops watching a socket. Call this on the loop, before the socket is closed. */
    void remove(int key, int socket) {
        if (handlers.remove(key) != null) {
            SctpErrors.check(
                    "epoll_ctl",
                    SystemCalls.EPOLL_CONTROL.call(loopState, epoll, KernelConstants.EPOLL_CTL_DEL, socket, 0));
        }
    }

    /** Ends the thread when no sockets are left. Call this on the loop. */
    CompletableFuture<Void> end() {
        // The write cannot fail, because the number is written once. After the next line the thread releases the
        // memory.
        SystemCalls.EVENT_WRITE.call(loopState, wakeUp, 1);
        ending = true;
        return ended;
    }

    private void run() {
        try {
            while (!ending) {
                found = SystemCalls.EPOLL_WAIT.call(threadState, epoll, events.address(), EVENTS, -1);
                if (found == -KernelConstants.EINTR || ending) {
                    continue;
                }
                SctpErrors.check("epoll_wait", found);
                loop.execute(dispatch);
                turn.acquireUninterruptibly();
            }
        } catch (RejectedExecutionException e) {
            // The loop has ended without its endpoints. Nobody is left to be told.
        } finally {
            release();
            ended.complete(null);
        }
    }

    private void dispatch() {
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < found; i++) {
                int offset = i * EVENT_LENGTH;
                Handler handler = handlers.get(events.get(INT, offset + DATA_OFFSET));
                if (handler != null) {
                    call(handler, (events.get(INT, offset) & KernelConstants.EPOLLOUT) != 0);
                }
            }
            found = ending ? 0 : SystemCalls.EPOLL_WAIT.call(loopState, epoll, events.address(), EVENTS, 0);
            if (found <= 0) {
                turn.release();
                return;
            }
        }
        loop.execute(dispatch);
    }

    private void call(Handler handler, boolean writable) {
        try {
            handler.onReady(writable);
        } catch (RuntimeException | Error e) {
            faults.accept(e);
        }
    }
}
