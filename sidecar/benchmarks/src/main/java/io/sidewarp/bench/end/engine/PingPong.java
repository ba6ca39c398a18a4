// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.DutyOutcome;
import org.HdrHistogram.Histogram;

/** Active end of a ping-pong; measures the time of each message. */
final class PingPong implements Duty {

    private final Histogram histogram = DutyOutcome.newHistogram();
    private final Exchange exchange;
    private final long nanos;
    private long begin;
    private long sent;
    private boolean started;

    /** @param nanos time of the measurement */
    PingPong(Exchange exchange, long nanos) {
        this.exchange = exchange;
        this.nanos = nanos;
    }

    @Override
    public boolean poll() {
        if (!started) {
            started = true;
            begin = System.nanoTime();
            sent = begin;
            exchange.send();
            return true;
        }
        if (!exchange.receive()) {
            return false;
        }
        long now = System.nanoTime();
        histogram.recordValue((now - sent) / exchange.ways());
        sent = now;
        if (!isDone()) {
            exchange.send();
        }
        return true;
    }

    @Override
    public boolean isDone() {
        return histogram.getTotalCount() > 0 && sent - begin >= nanos;
    }

    @Override
    public boolean followsCompletions() {
        return exchange.followsCompletions();
    }

    @Override
    public DutyOutcome outcome() {
        return DutyOutcome.pingPong(sent - begin, histogram);
    }
}
