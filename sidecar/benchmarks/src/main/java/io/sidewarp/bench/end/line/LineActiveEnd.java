// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.line;

import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.cli.perf.Histogram;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Counts in a cache line, and waits until the other end counts in another one. Measures the round trip over {@value
 * #BATCH} turns each, since one turn is shorter than the precision of the clock.
 */
public final class LineActiveEnd implements ActiveEnd {

    private static final int BATCH = 20;
    private static final int LOOKS_UNTIL_CLOCK = 1 << 16;
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private @Nullable Lines lines;

    /** @param port number of the passive end's process */
    @Override
    public void connect(TransferPlan plan, int port) throws IOException {
        lines = Lines.open(port);
        // Both ends have opened the file.
        Lines.forget(port);
    }

    @Override
    public DutyOutcome run(long nanos) {
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
                await(shared, count);
            }
            long now = System.nanoTime();
            histogram.record((now - last) / BATCH);
            last = now;
        } while (last - begin < nanos);
        return DutyOutcome.pingPong(last - begin, histogram);
    }

    private static void await(Lines shared, long count) {
        long end = 0;
        for (int looks = 1; shared.back() != count; looks++) {
            Thread.onSpinWait();
            if (looks % LOOKS_UNTIL_CLOCK == 0) {
                long now = System.nanoTime();
                end = end == 0 ? now + PATIENCE_NANOS : end;
                if (now - end > 0) {
                    throw new IllegalStateException("the other end does not count any more");
                }
            }
        }
    }

    @Override
    public void close() {
        if (lines != null) {
            lines.close();
            lines = null;
        }
    }
}
