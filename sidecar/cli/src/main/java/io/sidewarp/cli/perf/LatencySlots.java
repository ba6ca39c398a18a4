// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WaitStrategy;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The two slots of an RDMA Write latency test. The peer writes the first slot, and this side polls its last byte. This
 * side sends the second slot. The first slot must begin as all zeros, as new memory does, because the peer may write it
 * at any time.
 */
public final class LatencySlots {

    /**
     * Time for which a thread that waits adaptively only yields the processor. After this time, the thread sleeps
     * between looks.
     */
    private static final long EAGER_NANOS = 1_000_000;

    private static final long PARK_NANOS = 20_000;

    private static final Duration FOREVER = Duration.ofDays(365);

    private static final VarHandle OCTET = ValueLayout.JAVA_BYTE.varHandle();

    private final SharedRegion region;
    private final long watched;
    private final long prepared;
    private final WaitStrategy strategy;

    /**
     * @param watched slot that the peer writes
     * @param prepared slot that this side sends
     * @param strategy how a thread waits for the peer
     */
    public LatencySlots(SharedRegion region, Sge watched, Sge prepared, WaitStrategy strategy) {
        this.region = region;
        this.watched = lastByte(watched);
        this.prepared = lastByte(prepared);
        this.strategy = strategy;
    }

    /** Sets the last byte of the next message. */
    public void prepare(byte sequence) {
        OCTET.setVolatile(region.segment(), prepared, sequence);
    }

    /** Returns when the peer has written a message with this last byte. */
    void await(byte sequence) throws InterruptedException {
        await(sequence, FOREVER);
    }

    /**
     * Waits until the peer has written a message with this last byte.
     *
     * @return false when the peer did not write it in time
     */
    @SuppressWarnings("ThreadPriorityCheck") // There is no event to wait for: memory changes without anybody's help.
    public boolean await(byte sequence, Duration patience) throws InterruptedException {
        long limit = patience.toNanos();
        long begin = System.nanoTime();
        while ((byte) OCTET.getVolatile(region.segment(), watched) != sequence) {
            long waited = System.nanoTime() - begin;
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (waited > limit) {
                return false;
            }
            switch (strategy) {
                case SPIN -> Thread.onSpinWait();
                case YIELD -> Thread.yield();
                case SLEEP -> LockSupport.parkNanos(PARK_NANOS);
                case ADAPTIVE -> {
                    if (waited < EAGER_NANOS) {
                        Thread.yield();
                    } else {
                        LockSupport.parkNanos(PARK_NANOS);
                    }
                }
            }
        }
        return true;
    }

    private static long lastByte(Sge slot) {
        return slot.offset() + slot.length() - 1;
    }
}
