// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdaptivePollingTest {

    private static final long LIMIT = 1600;
    private static final long STEP = 10;
    private static final IntSupplier NOTHING = () -> 0;
    private static final IntSupplier UNWANTED = () -> {
        throw new AssertionError("epoll is asked");
    };

    private long now;
    private long idleSince;
    private long othersRun;
    private final YieldBackoff others = new YieldBackoff(() -> now += othersRun);
    private final AdaptivePolling polling = new AdaptivePolling(Duration.ofNanos(LIMIT), () -> now += STEP, others);

    @BeforeEach
    @AfterEach
    void forget() {
        RecentInput.ofThisLoop().forget();
    }

    @Test
    void aLoopWithoutWorkPollsForTheLimitAndThenSleeps() throws Exception {
        assertThat(pollInVain()).isBetween(LIMIT - STEP, LIMIT + STEP);
    }

    @Test
    void whatIsReadyIsHandedOutAtOnce() throws Exception {
        assertThat(polling.calculateStrategy(() -> 3, false)).isEqualTo(3);
    }

    @Test
    void tasksEndPolling() throws Exception {
        assertThat(polling.calculateStrategy(NOTHING, false)).isEqualTo(SelectStrategy.CONTINUE);

        assertThat(polling.calculateStrategy(NOTHING, true)).isZero();
    }

    @Test
    void longIdlenessShortensPollingDownToASixteenth() throws Exception {
        pollInVain();
        sleepUntil(LIMIT + STEP);
        assertThat(pollInVain()).isBetween(LIMIT / 2 - STEP, LIMIT / 2 + STEP);
        beIdleForLong();
        assertThat(pollInVain()).isBetween(LIMIT / 16 - STEP, LIMIT / 16 + STEP);
    }

    @Test
    void pollingThatPaysGetsLongerUpToTheLimit() throws Exception {
        beIdleForLong();
        for (int times = 0; times < 10; times++) {
            assertThat(polling.calculateStrategy(NOTHING, false)).isEqualTo(SelectStrategy.CONTINUE);
            assertThat(polling.calculateStrategy(() -> 1, false)).isEqualTo(1);
        }
        assertThat(pollInVain()).isBetween(LIMIT - STEP, LIMIT + STEP);
    }

    @Test
    void pollingThatWouldHavePaidGetsLongerToo() throws Exception {
        beIdleForLong();
        for (int times = 0; times < 10; times++) {
            pollInVain();
            sleepUntil(LIMIT - 2 * STEP);
        }
        assertThat(pollInVain()).isBetween(LIMIT - STEP, LIMIT + STEP);
    }

    @Test
    void withoutALimitALoopSleepsAtOnce() throws Exception {
        AdaptivePolling never = new AdaptivePolling(Duration.ZERO, () -> now += STEP, others);

        assertThat(never.calculateStrategy(NOTHING, false)).isEqualTo(SelectStrategy.SELECT);
        assertThat(never.calculateStrategy(() -> 2, true)).isEqualTo(2);
    }

    @Test
    void aLoopIsIdleWhenItFindsNoWork() throws Exception {
        LoopIdleness idleness = LoopIdleness.ofThisLoop();
        idleness.onIdle(now);
        long begin = now;

        polling.calculateStrategy(() -> 1, false);
        polling.calculateStrategy(NOTHING, true);
        assertThat(idleness.isSince(begin)).isFalse();
        polling.calculateStrategy(NOTHING, false);
        assertThat(idleness.isSince(begin)).isTrue();
    }

    @Test
    void aLoopThatDoesNotPollIsIdleWhenItMaySleep() throws Exception {
        AdaptivePolling never = new AdaptivePolling(Duration.ZERO, () -> now += STEP, others);
        LoopIdleness idleness = LoopIdleness.ofThisLoop();
        idleness.onIdle(now);
        long begin = now;

        never.calculateStrategy(() -> 1, true);
        assertThat(idleness.isSince(begin)).isFalse();
        never.calculateStrategy(NOTHING, false);
        assertThat(idleness.isSince(begin)).isTrue();
    }

    @Test
    void theConnectionThatAloneHadInputIsReadFromBeforeEpollIsAskedAgain() throws Exception {
        RecentInput recent = RecentInput.ofThisLoop();
        now = TimeUnit.SECONDS.toNanos(1);
        AtomicInteger taken = new AtomicInteger();
        RecentInput.Source source = () -> taken.incrementAndGet() <= 2;
        recent.onInput(source, 1, now);
        recent.onInput(source, 1, now);

        assertThat(polling.calculateStrategy(() -> 1, false)).as("epoll").isEqualTo(1);
        assertThat(polling.calculateStrategy(UNWANTED, false)).as("input").isZero();
        assertThat(polling.calculateStrategy(UNWANTED, true)).as("input").isZero();
        assertThat(polling.calculateStrategy(UNWANTED, false)).as("no input").isEqualTo(SelectStrategy.CONTINUE);
        assertThat(taken).hasValue(3);
        now += RecentInput.ALONE_NANOS;
        assertThat(polling.calculateStrategy(() -> 1, false)).as("epoll").isEqualTo(1);
    }

    @Test
    void loopCarriesOutWorkOfASourceBeforeItAsksEpoll() throws Exception {
        AtomicInteger work = new AtomicInteger(3);
        PolledSources.ofThisLoop().add(new PolledSources.Source() {
            @Override
            public PolledSources.Outcome poll() {
                return work.getAndDecrement() > 0 ? PolledSources.Outcome.WORKED : PolledSources.Outcome.LEAVES;
            }

            @Override
            public boolean arm() {
                return true;
            }

            @Override
            public void fail(Throwable failure) {
                throw new AssertionError(failure);
            }
        });

        assertThat(polling.calculateStrategy(UNWANTED, false)).as("work").isZero();
        assertThat(polling.calculateStrategy(() -> 2, false)).as("work again").isEqualTo(2);
        assertThat(polling.calculateStrategy(UNWANTED, false))
                .as("work once more")
                .isZero();
        assertThat(polling.calculateStrategy(() -> 1, false)).as("no work").isEqualTo(1);
    }

    @Test
    void aLoopThatSleepsHasNoRecentInput() throws Exception {
        RecentInput recent = RecentInput.ofThisLoop();
        RecentInput.Source source = () -> false;
        recent.onInput(source, 1, now);
        recent.onInput(source, 1, now);

        pollInVain();

        assertThat(recent.isKnown()).isFalse();
    }

    @Test
    void besideAThreadThatComputesALoopSleepsAtOnce() throws Exception {
        giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
        giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
        long pause = YieldBackoff.FACTOR * YieldBackoff.COMPUTES_NANOS;

        assertThat(polling.calculateStrategy(() -> 2, false)).as("work goes on").isEqualTo(2);
        assertThat(polling.calculateStrategy(NOTHING, false)).isEqualTo(SelectStrategy.SELECT);
        assertThat(polling.calculateStrategy(NOTHING, false)).isEqualTo(SelectStrategy.SELECT);
        now += pause;
        assertThat(polling.calculateStrategy(NOTHING, false)).as("later").isEqualTo(SelectStrategy.CONTINUE);
    }

    @Test
    void howLongItDoesSoDoublesUpToASecondWhileTheThreadComputes() throws Exception {
        giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
        for (long pause = YieldBackoff.FACTOR * YieldBackoff.COMPUTES_NANOS;
                pause < YieldBackoff.MAX_PAUSE_NANOS;
                pause *= 2) {
            giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
            assertThat(others.isFutile(now + pause - 1)).isTrue();
            assertThat(others.isFutile(now + pause)).isFalse();
            now += pause;
        }
        giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
        assertThat(others.isFutile(now + YieldBackoff.MAX_PAUSE_NANOS - 1)).isTrue();
        assertThat(others.isFutile(now + YieldBackoff.MAX_PAUSE_NANOS)).isFalse();
    }

    @Test
    void aProcessorThatWasAwayOnceIsNoReasonToSleep() throws Exception {
        for (int times = 0; times < 3; times++) {
            giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
            assertThat(others.isFutile(now)).isFalse();
            giveWayFor(YieldBackoff.COMPUTES_NANOS - 2 * STEP);
            assertThat(others.isFutile(now)).isFalse();
        }
    }

    @Test
    void afterThreadsThatGiveWayInTheirTurnItBeginsAnew() throws Exception {
        for (int times = 0; times < 4; times++) {
            giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
            now += YieldBackoff.MAX_PAUSE_NANOS;
        }
        giveWayFor(0);
        giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);
        giveWayFor(YieldBackoff.COMPUTES_NANOS - STEP);

        assertThat(others.isFutile(now)).isTrue();
        assertThat(others.isFutile(now + YieldBackoff.FACTOR * YieldBackoff.COMPUTES_NANOS))
                .isFalse();
    }

    /** The loop has nothing to do and gives way, and then has to do something. */
    private void giveWayFor(long nanos) throws Exception {
        othersRun = nanos;
        assertThat(polling.calculateStrategy(NOTHING, false)).isEqualTo(SelectStrategy.CONTINUE);
        othersRun = 0;
        assertThat(polling.calculateStrategy(() -> 1, false)).isEqualTo(1);
    }

    private void beIdleForLong() throws Exception {
        for (int times = 0; times < 10; times++) {
            pollInVain();
            sleepUntil(100 * LIMIT);
        }
    }

    /** The loop sleeps until so much time after it ran out of work, and then finds work. */
    private void sleepUntil(long sinceIdle) throws Exception {
        now = idleSince + sinceIdle;
        assertThat(polling.calculateStrategy(() -> 1, false)).isEqualTo(1);
    }

    /** The time until the loop is told to sleep. */
    private long pollInVain() throws Exception {
        long begin = now;
        idleSince = begin;
        for (int calls = 0; calls < 10_000; calls++) {
            int strategy = polling.calculateStrategy(NOTHING, false);
            if (strategy == SelectStrategy.SELECT) {
                return now - begin - STEP;
            }
            assertThat(strategy).isEqualTo(SelectStrategy.CONTINUE);
        }
        throw new AssertionError("never sleeps");
    }
}
