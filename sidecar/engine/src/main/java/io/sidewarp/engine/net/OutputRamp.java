// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.util.concurrent.TimeUnit;

/**
 * How much the socket of a connection gets at a time. What it gets behind a pause is less than what comes then: the peer,
 * which waits, has it sooner, and works while more is made. In a pause the loop had nothing to do. When it had, its processor
 * is what the stream waits for, and little at a time would only cost more: it served other connections, or the application
 * on the same processor asked for more. Belongs to one event loop.
 */
final class OutputRamp {

    /** Octets of the first buffer at most; 128 KiB were no better. */
    static final int FIRST = 256 * 1024;

    /** For how long nothing is sent in a pause; less is what the loop does between two buffers. */
    static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private static final int GROWTH = 2;

    private int octets;
    private long writtenNanos;

    /** Octets of the next buffer at most, which is made now. */
    int next(long nanoTime, LoopIdleness idleness) {
        boolean pause = idleness.isSince(writtenNanos) && nanoTime - writtenNanos >= PAUSE_NANOS;
        octets = octets == 0 || pause ? FIRST : Math.min(GROWTH * octets, NetSettings.LARGE_OUTPUT_CAPACITY);
        return octets;
    }

    /** The socket took the buffer. */
    void onWritten(long nanoTime) {
        writtenNanos = nanoTime;
    }
}
