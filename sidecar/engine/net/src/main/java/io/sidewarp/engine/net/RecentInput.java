// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Connection of a loop that was the only one with recent input, and had little of it. A polling loop reads from its
 * socket without asking epoll first, so that a small message does not wait for epoll. Belongs to one loop.
 */
final class RecentInput {

    /** A connection that may have input. */
    interface Source {

        /**
         * Takes the available input. Throws nothing.
         *
         * @return whether there was any
         */
        boolean takeInput();
    }

    /** Minimum time between two looks at the other sockets of the loop, after {@link #ALONE_TURNS}. */
    static final long ALONE_NANOS = TimeUnit.MICROSECONDS.toNanos(10);

    /**
     * Minimum turns between two looks. A turn in which other threads had the processor takes longer than
     * {@link #ALONE_NANOS}.
     */
    static final int ALONE_TURNS = 4;

    /**
     * Largest input in bytes that counts as small. Larger input belongs to a stream. A stream is better read in large
     * pieces, and without taking the lock of its socket when there is no input.
     */
    static final int SMALL = 8 << 10;

    private static final FastThreadLocal<RecentInput> OF_LOOP = new FastThreadLocal<>() {
        @Override
        protected RecentInput initialValue() {
            return new RecentInput();
        }
    };

    private @Nullable Source last;
    private boolean small;
    private boolean known;
    private long nowNanos;
    private long inputNanos;
    private long selectedNanos;
    private int turns = ALONE_TURNS;

    /** Returns the instance of the calling loop. */
    static RecentInput ofThisLoop() {
        return OF_LOOP.get();
    }

    /**
     * Notes input of a connection. The connection becomes known after two small inputs in a row. One is not enough,
     * because a single write of the peer's stream often ends with a short segment.
     */
    void onInput(Source source, int octets, long nanoTime) {
        boolean wasSmall = small;
        small = octets <= SMALL;
        known = source.equals(last) && small && wasSmall;
        last = source;
        inputNanos = nanoTime;
    }

    /** Notes output of any connection. */
    void onOutput(int octets) {
        if (octets > SMALL) {
            forget();
        }
    }

    /** Returns whether there is a known connection. */
    boolean isKnown() {
        return known;
    }

    /** Returns whether epoll is due. The caller then asks epoll. */
    boolean isSelectDue(long nanoTime) {
        nowNanos = nanoTime;
        if (++turns < ALONE_TURNS || nanoTime - selectedNanos < ALONE_NANOS) {
            return false;
        }
        turns = 0;
        selectedNanos = nanoTime;
        return true;
    }

    /**
     * Takes input of the known connection, when epoll is not due.
     *
     * @param patienceNanos time without input after which the connection is forgotten
     * @return whether there was any input
     */
    boolean take(long patienceNanos) {
        if (last != null && last.takeInput()) {
            return true;
        }
        if (nowNanos - inputNanos > patienceNanos) {
            forget();
        }
        return false;
    }

    /** Forgets the connection. */
    void forget() {
        last = null;
        small = false;
        known = false;
        turns = ALONE_TURNS;
    }
}
