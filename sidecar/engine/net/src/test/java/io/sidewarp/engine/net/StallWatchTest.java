// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StallWatchTest {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    /** Return value of an embedded channel whose loop has no timer. */
    private static final long NO_TIMER = -1;

    /** Channel that provides a loop whose time stands still. */
    @AutoClose
    private final EmbeddedChannel channel = new EmbeddedChannel();

    private final StallWatch watch =
            new StallWatch(channel.eventLoop(), TIMEOUT, () -> this.progress, () -> this.stalls++);
    private long progress;
    private int stalls;

    @BeforeEach
    void freeze() {
        channel.freezeTime();
    }

    private long pass(Duration time) {
        channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
        return channel.runScheduledPendingTasks();
    }

    @Test
    void tellsOfWhatMadeNoProgressForTheWholeTime() {
        watch.begin();
        progress = 1;
        pass(TIMEOUT);
        assertThat(stalls).isZero();
        pass(TIMEOUT);
        assertThat(stalls).isEqualTo(1);
    }

    @Test
    void waitsForNobodyWhereNothingIsWaitedFor() {
        progress = StallWatch.NOT_WAITING;
        watch.begin();
        assertThat(pass(Duration.ZERO)).isEqualTo(NO_TIMER);
    }

    @Test
    void leavesNothingOnTheLoopWhenItEnds() {
        watch.begin();
        watch.end();
        assertThat(pass(Duration.ZERO)).isEqualTo(NO_TIMER);
        watch.begin();
        pass(TIMEOUT);
        assertThat(stalls).isEqualTo(1);
    }
}
