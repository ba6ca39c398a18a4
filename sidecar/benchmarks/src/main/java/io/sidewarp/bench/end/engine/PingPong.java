// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.Outcome;
import io.sidewarp.cli.perf.Histogram;

/** The active end's side of messages that go one at a time: keeps the time of each. */
abstract class PingPong implements Duty {

    private final Histogram histogram = new Histogram();
    private final long nanos;
    private final int ways;
    private long begin;
    private long sent;
    private boolean started;

    /**
     * @param nanos how long it goes on
     * @param ways 2 when the time of a round is that of two messages, else 1
     */
    PingPong(long nanos, int ways) {
        this.nanos = nanos;
        this.ways = ways;
    }

    /** Sends a message. */
    abstract void send();

    /** Takes the answer, if it is there. */
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

    Outcome outcome() {
        return Outcome.pingPong(sent - begin, histogram);
    }
}
