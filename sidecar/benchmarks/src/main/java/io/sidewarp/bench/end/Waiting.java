// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.engine.net.NetSettings;
import java.time.Duration;
import java.util.Locale;

/** Strategy to wait for the next message or completion. Both ends of a measurement use the same strategy. */
public enum Waiting {
    /** The engine's own way: its event loop polls for a while before it sleeps. The application runs on that loop. */
    ADAPTIVE(NetSettings.BUSY_POLL),
    /** Sleeps until the kernel reports an event. The application runs on the engine's event loop. */
    SLEEP(Duration.ZERO),
    /** Never sleeps, and polls all the time. The application runs on the engine's event loop. */
    SPIN(Duration.ofHours(1)),
    /**
     * The application has a thread of its own, which polls memory and completions. Between two polls it yields to other
     * threads of its processor. The engine's event loop sleeps.
     */
    YIELD(Duration.ZERO);

    private final Duration busyPoll;

    Waiting(Duration busyPoll) {
        this.busyPoll = busyPoll;
    }

    /** Returns the longest time that an event loop without work polls before it sleeps. */
    public Duration busyPoll() {
        return busyPoll;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
