// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.engine.net.NetSettings;
import java.time.Duration;
import java.util.Locale;

/** How an end waits for what comes next. Both ends of a measurement do the same. */
public enum Waiting {
    /** The engine's own way: its event loop polls for a while before it sleeps. The application runs on that loop. */
    ADAPTIVE(NetSettings.BUSY_POLL),
    /** Asleep until the kernel has something. The application runs on the engine's event loop. */
    SLEEP(Duration.ZERO),
    /** Never asleep: looks again at once. The application runs on the engine's event loop. */
    SPIN(Duration.ofHours(1)),
    /**
     * The application has a thread of its own, which looks at memory and completions and in between lets other threads
     * of its processor run. The engine's event loop sleeps.
     */
    YIELD(Duration.ZERO);

    private final Duration busyPoll;

    Waiting(Duration busyPoll) {
        this.busyPoll = busyPoll;
    }

    /** The longest time that an event loop without work polls before it sleeps. */
    public Duration busyPoll() {
        return busyPoll;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
