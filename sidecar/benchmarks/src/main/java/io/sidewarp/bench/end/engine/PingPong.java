// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.cli.perf.Histogram;

/** Active end of a ping-pong; measures the time of each message. */
abstract class PingPong implements Duty {

    private final Histogram histogram = new Histogram();
    private final long nanos;
    private final int ways;
    private long begin;
    private long sent;
    private boolean started;

    /**
     * @param nanos time of the measurement
     * @param ways 2 if a round has two messages, otherwise 1
     */
    PingPong(long nanos, int ways) {
        this.nanos = nanos;
        this.ways = ways;
    }

    /** Sends a message. */
    abstract void send();

    /** Takes the answer if it has arrived. Returns whether it has. */
    abstract boolean receive();

    @Override
    public boolean poll() {
        if (!started) {
            started = true;
            begin = System.nanoTime();
            sent = begin;
            send();
            return true;
        }
        if (!receive()) {
            return false;
        }
        long now = System.nanoTime();
        histogram.record((now - sent) / ways);
        sent = now;
        if (!isDone()) {
            send();
        }
        return true;
    }

    @Override
    public boolean isDone() {
        return histogram.count() > 0 && sent - begin >= nanos;
    }

    DutyOutcome outcome() {
        return DutyOutcome.pingPong(sent - begin, histogram);
    }
}
