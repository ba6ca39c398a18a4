// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.line;

import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Counts in a cache line what the other end counted in another one. */
public final class LinePassiveEnd implements PassiveEnd {

    private @Nullable Thread echo;
    private volatile boolean stopped;

    @Override
    public int listen(TransferPlan plan) throws IOException {
        int process = (int) ProcessHandle.current().pid();
        Lines lines = Lines.create(process);
        stopped = false;
        echo = Thread.ofPlatform().daemon().name("bench-lines").start(() -> echo(lines));
        return process;
    }

    private void echo(Lines lines) {
        try (lines) {
            while (!stopped) {
                long count = lines.there();
                if (lines.back() != count) {
                    lines.back(count);
                } else {
                    Thread.onSpinWait();
                }
            }
        }
    }

    @Override
    public void close() throws InterruptedException, IOException {
        if (echo != null) {
            stopped = true;
            echo.join();
            echo = null;
            Lines.forget((int) ProcessHandle.current().pid());
        }
    }
}
