// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.ring.RingRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The socket of a completion ring. Wakes the sidecar, and lets threads of this process sleep until the sidecar wakes
 * them. Thread-safe.
 *
 * <p>One sleeping thread waits on the socket, and the other sleeping threads wait for that thread. Each record
 * increments the {@link #epoch} and wakes all sleeping threads, because a record does not name a thread.
 *
 * <p>A thread avoids a lost wake-up in four steps. It reads the epoch, and then announces in shared memory that it
 * sleeps. It checks its ring once more, and then calls {@link #await}. {@link #await} returns at once if the epoch has
 * changed.
 */
final class RingSocket implements AutoCloseable {

    /**
     * Minimum interval between reads of the socket by threads that do not sleep. Only the socket shows that the sidecar
     * is gone.
     */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Maximum pause between reads of the socket if the remaining time is shorter than 1 ms. */
    private static final long SHORT_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final SocketChannel channel;
    private final Selector selector;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Bytes that were received. Guarded by the lock. */
    private final ByteBuffer input =
            ByteBuffer.allocateDirect(2 * RingRecord.MAX_LENGTH).order(ByteOrder.nativeOrder());

    /** Record to send. Guarded by itself. */
    private final ByteBuffer output =
            ByteBuffer.allocateDirect(RingRecord.HEADER).order(ByteOrder.nativeOrder());

    /** True while a thread waits on the socket. Guarded by the lock. */
    private boolean selecting;

    /** True after the socket was closed. Guarded by the lock. */
    private boolean closed;

    /** True after the sidecar has accepted the token. Guarded by the lock. */
    private boolean welcome;

    /** Number that grows with each record, each {@link #stir} and the end of the socket. Written under the lock. */
    private volatile long epoch;

    private volatile long lookedAt = System.nanoTime();
    private volatile @Nullable SidewarpException failure;

    private RingSocket(SocketChannel channel, Selector selector) {
        this.channel = channel;
        this.selector = selector;
    }

    /**
     * Connects, and returns when the sidecar has accepted the token.
     *
     * @throws IOException if this process cannot reach the socket
     * @throws SidewarpException if the sidecar refuses the token or does not answer in time
     */
    static RingSocket open(Path path, byte[] token, long timeoutNanos) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(path));
            ByteBuffer hello = RingRecord.of(RingRecord.HELLO, 0, token);
            while (hello.hasRemaining()) {
                channel.write(hello);
            }
            channel.configureBlocking(false);
            Selector selector = Selector.open();
            channel.register(selector, SelectionKey.OP_READ);
            RingSocket socket = new RingSocket(channel, selector);
            socket.awaitWelcome(timeoutNanos);
            return socket;
        } catch (ClosedByInterruptException e) {
            throw Errors.interrupted((InterruptedException) new InterruptedException().initCause(e));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private void awaitWelcome(long timeoutNanos) {
        long started = System.nanoTime();
        try {
            while (!isWelcome()) {
                long left = timeoutNanos - (System.nanoTime() - started);
                SidewarpException refused = failure;
                if (refused != null || left <= 0) {
                    close();
                    throw refused != null
                            ? refused
                            : new SidewarpException(
                                    Status.Code.DEADLINE_EXCEEDED,
                                    "the sidecar did not answer on the socket of a ring in time;"
                                            + " check that the sidecar runs, and open the queue again");
                }
                await(epoch, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw Errors.interrupted(e);
        }
    }

    private boolean isWelcome() {
        lock.lock();
        try {
            return welcome;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the reason why the sidecar ended the queue, or null. */
    @Nullable
    SidewarpException failure() {
        return failure;
    }

    /** Returns a number that grows with each record, each {@link #stir} and the end of the socket. */
    long epoch() {
        return epoch;
    }

    /** Wakes the sidecar, so that it checks a ring. */
    void wake(long ring) {
        synchronized (output) {
            RingRecord.header(output.clear(), 0, RingRecord.HEADER, RingRecord.WAKE, ring);
            try {
                while (output.hasRemaining()) {
                    if (channel.write(output) == 0) {
                        Thread.onSpinWait();
                    }
                }
            } catch (IOException e) {
                writeFailed(e);
            }
        }
    }

    private void writeFailed(IOException cause) {
        lock.lock();
        try {
            // A record that the sidecar sent before it closed the socket gives a better reason.
            read();
            if (!closed) {
                fail(RingErrors.socketFailed(cause));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Reads records that have arrived, at most once per millisecond. For threads that wait without sleeping. */
    void look() {
        if (System.nanoTime() - lookedAt < LOOK_NANOS || !lock.tryLock()) {
            return;
        }
        try {
            if (!selecting) {
                read();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sleeps until a record comes, another thread calls {@link #stir}, or the time is over. May return earlier.
     *
     * @param seen epoch that the caller read before its last check of the ring
     */
    void await(long seen, long nanos) throws InterruptedException {
        long started = System.nanoTime();
        lock.lockInterruptibly();
        try {
            while (epoch == seen && !closed && failure == null) {
                long left = nanos - (System.nanoTime() - started);
                if (left <= 0) {
                    return;
                }
                if (selecting) {
                    changed.awaitNanos(left);
                } else {
                    select(left);
                    read();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits on the socket, and releases the lock meanwhile. */
    private void select(long nanos) throws InterruptedException {
        IOException selectFailure = null;
        selecting = true;
        lock.unlock();
        try {
            long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
            if (millis > 0) {
                selector.select(RingSocket::noted, millis);
            } else {
                // A selector waits for at least 1 ms, which is longer than the remaining time.
                LockSupport.parkNanos(Math.min(nanos, SHORT_PAUSE_NANOS));
            }
        } catch (IOException e) {
            selectFailure = e;
        } catch (ClosedSelectorException e) {
            // The queue was closed.
        } finally {
            lock.lock();
            selecting = false;
            changed.signalAll();
        }
        if (selectFailure != null) {
            fail(RingErrors.socketFailed(selectFailure));
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private static void noted(SelectionKey ready) {
        // Does nothing, because the caller reads the only channel after every wait.
    }

    /** Wakes all sleeping threads, so that each checks its ring again. */
    void stir() {
        lock.lock();
        try {
            moveOn();
            if (selecting) {
                selector.wakeup();
            }
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under the lock
    private void moveOn() {
        epoch++;
        changed.signalAll();
    }

    /** Reads all records that have arrived. Needs the lock. */
    private void read() {
        lookedAt = System.nanoTime();
        if (closed || failure != null) {
            return;
        }
        try {
            int octets = channel.read(input);
            while (octets > 0) {
                parse();
                octets = channel.read(input);
            }
            if (octets < 0) {
                fail(RingErrors.socketClosed());
            }
        } catch (IOException e) {
            fail(RingErrors.socketFailed(e));
        }
    }

    private void parse() {
        input.flip();
        while (input.remaining() >= RingRecord.HEADER && failure == null) {
            int at = input.position();
            int length = input.getInt(at + RingRecord.LENGTH_OFFSET);
            if (length < RingRecord.HEADER || length > RingRecord.MAX_LENGTH) {
                fail(RingErrors.recordLength(length));
                break;
            }
            if (input.remaining() < length) {
                break;
            }
            take(at, length);
            input.position(at + length);
        }
        input.compact();
    }

    private void take(int at, int length) {
        long value = input.getLong(at + RingRecord.VALUE_OFFSET);
        switch (input.getShort(at + RingRecord.TYPE_OFFSET)) {
            case RingRecord.WELCOME -> {
                welcome = true;
                moveOn();
            }
            case RingRecord.WAKE -> moveOn();
            case RingRecord.END -> fail(RingErrors.ended(value, text(at, length)));
            case RingRecord.ERROR -> fail(RingErrors.refused((int) value, text(at, length)));
            default -> {
                // Ignores a record type of a newer sidecar.
            }
        }
    }

    private String text(int at, int length) {
        byte[] text = new byte[length - RingRecord.HEADER];
        input.get(at + RingRecord.HEADER, text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Records the failure that ends the use of the socket. Keeps the first failure. */
    void fail(SidewarpException cause) {
        lock.lock();
        try {
            if (failure == null) {
                failure = cause;
            }
            moveOn();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            moveOn();
        } finally {
            lock.unlock();
        }
        try {
            // Closing the selector wakes the thread that waits on the socket.
            selector.close();
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
