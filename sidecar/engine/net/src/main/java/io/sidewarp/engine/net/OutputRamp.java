// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.util.concurrent.TimeUnit;

/**
 * Limits how many bytes the socket of a connection gets at a time. The first buffer after a pause is smaller than the
 * following ones. The peer, which waits, gets it sooner, and works while more output is made.
 *
 * <p>A pause is a time in which the loop had nothing to do. A loop with work is itself the bottleneck of the stream,
 * and small buffers would only add cost: the loop served other connections, or the application on the same processor
 * asked for more. Belongs to one event loop.
 */
final class OutputRamp {

    /** Largest first buffer in bytes. A measurement with 128 KiB was no better. */
    static final int FIRST = 256 * 1024;

    /** Shortest time without output that counts as a pause. Shorter gaps are normal between two buffers. */
    static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private static final int GROWTH = 2;

    private int octets;
    private long writtenNanos;

    /** Returns the most bytes of the next buffer, which is made now. */
    int next(long nanoTime, LoopIdleness idleness) {
        boolean pause = idleness.isSince(writtenNanos) && nanoTime - writtenNanos >= PAUSE_NANOS;
        octets = octets == 0 || pause ? FIRST : Math.min(GROWTH * octets, NetSettings.LARGE_OUTPUT_CAPACITY);
        return octets;
    }

    /** Notes that the socket took the buffer. */
    void onWritten(long nanoTime) {
        writtenNanos = nanoTime;
    }
}
