// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.line;

import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.Outcome;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.cli.perf.Histogram;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Counts in a cache line and waits until the other end counts in another one: the time there and back, of {@value #BATCH}
 * turns each, for one is shorter than the clock is exact.
 */
public final class LineActiveEnd implements ActiveEnd {

    private static final int BATCH = 20;

    private @Nullable Lines lines;

    /** @param port number of the passive end's process */
    @Override
    public void connect(TransferPlan plan, int port) throws IOException {
        lines = Lines.of(port);
        // Both have it.
        Lines.forget(port);
    }

    @Override
    public Outcome run(long nanos) {
        Lines shared = lines;
        if (shared == null) {
            throw new IllegalStateException("not connected");
        }
        Histogram histogram = new Histogram();
        long begin = System.nanoTime();
        long last = begin;
        do {
            for (int turn = 0; turn < BATCH; turn++) {
                long count = shared.back() + 1;
                shared.there(count);
                while (shared.back() != count) {
                    Thread.onSpinWait();
                }
            }
            long now = System.nanoTime();
            histogram.record((now - last) / BATCH);
            last = now;
        } while (last - begin < nanos);
        return Outcome.pingPong(last - begin, histogram);
    }

    @Override
    public void close() {
        if (lines != null) {
            lines.close();
            lines = null;
        }
    }
}
