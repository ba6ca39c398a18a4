// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a loop that was the only one to have input lately, and little of it. A loop that polls reads from the
 * socket of that one without asking epoll first, which a small message would have to wait for. Belongs to one loop.
 */
final class RecentInput {

    /** A connection that may have input. */
    interface Source {

        /**
         * Takes the input that there is. Throws nothing.
         *
         * @return whether there was any
         */
        boolean takeInput();
    }

    /** Time between two looks at the other sockets of the loop, once it has made {@link #ALONE_TURNS}. */
    static final long ALONE_NANOS = TimeUnit.MICROSECONDS.toNanos(10);

    /** Turns between two looks: a turn in which other threads had the processor takes longer than {@link #ALONE_NANOS}. */
    static final int ALONE_TURNS = 4;

    /**
     * Octets, beyond which they are those of a stream: it is better to read that in large pieces, and not to take the lock
     * of its socket when there is nothing.
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

    /** Of the loop that calls. */
    static RecentInput ofThisLoop() {
        return OF_LOOP.get();
    }

    /**
     * A connection had input: little of it twice in a row, and it is known. Once is not enough, as what a peer's stream writes
     * at a time often ends with a short segment.
     */
    void onInput(Source source, int octets, long nanoTime) {
        boolean wasSmall = small;
        small = octets <= SMALL;
        known = source.equals(last) && small && wasSmall;
        last = source;
        inputNanos = nanoTime;
    }

    /** Some connection has output. */
    void onOutput(int octets) {
        if (octets > SMALL) {
            forget();
        }
    }

    /** Whether there is such a connection. */
    boolean isKnown() {
        return known;
    }

    /** Whether it is time to ask epoll, which the caller then does. */
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
     * Takes input of the connection, when it is not time to ask epoll.
     *
     * @param patienceNanos after so long without input there is no such connection any more
     * @return whether there was any
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

    /** There is no such connection any more. */
    void forget() {
        last = null;
        small = false;
        known = false;
        turns = ALONE_TURNS;
    }
}
