// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopResourcesTest {

    private static final int STAGING = NetSettings.MIN_STAGING_CAPACITY;

    private boolean memoryLeft = true;
    private final LoopResources resources = new LoopResources(settings(STAGING), this::allocate);
    private final List<String> called = new ArrayList<>();

    /** Three output buffers, one of them large. */
    private static NetSettings settings(int stagingCapacity) {
        return NetSettings.defaults().withStagingCapacity(stagingCapacity).withOutputBuffers(3, 1);
    }

    private StagingBuffer allocate(int capacity) {
        if (!memoryLeft) {
            throw new OutOfMemoryError("none left");
        }
        return new StagingBuffer(capacity);
    }

    private StagingBuffer acquire() {
        return acquire(new OutputTurn(() -> {}));
    }

    private StagingBuffer acquire(OutputTurn turn) {
        StagingBuffer buffer = resources.acquireOutput(turn);
        assertThat(buffer).isNotNull();
        return buffer;
    }

    /** Wants a buffer and gets none. */
    private OutputTurn await(String name) {
        OutputTurn turn = new OutputTurn(() -> called.add(name));
        assertThat(resources.acquireOutput(turn)).isNull();
        assertThat(turn.isWaiting()).isTrue();
        return turn;
    }

    private static int capacity(StagingBuffer buffer) {
        return buffer.wire().capacity();
    }

    @Test
    void givesOrdinaryBuffersWhileTheLargeOnesAreInUse() {
        StagingBuffer large = acquire();
        StagingBuffer ordinary = acquire();
        assertThat(capacity(large)).isEqualTo(NetSettings.LARGE_OUTPUT_CAPACITY);
        assertThat(capacity(ordinary)).isEqualTo(STAGING);

        resources.releaseOutput(ordinary, true);
        assertThat(acquire()).isSameAs(ordinary);
        resources.releaseOutput(large, true);
        assertThat(acquire()).isSameAs(large);
    }

    @Test
    void replacesALargeBufferThatSomebodyMayStillLookAt() {
        StagingBuffer large = acquire();
        resources.releaseOutput(large, false);
        StagingBuffer next = acquire();
        assertThat(next).isNotSameAs(large);
        assertThat(capacity(next)).isEqualTo(NetSettings.LARGE_OUTPUT_CAPACITY);
    }

    @Test
    void callsOneWhoWaitsWhenABufferOfEitherKindIsFree() {
        StagingBuffer first = acquire();
        acquire();
        acquire();
        await("first");
        await("second");

        resources.releaseOutput(first, true);
        assertThat(called).containsExactly("first");
    }

    @Test
    void whoGivesABufferBackComesBehindThoseWhoWait() {
        OutputTurn busy = new OutputTurn(() -> called.add("busy"));
        StagingBuffer buffer = acquire(busy);
        acquire();
        acquire();
        OutputTurn first = await("first");
        OutputTurn second = await("second");

        resources.releaseOutput(buffer, true);
        assertThat(resources.acquireOutput(busy)).isNull();
        resources.releaseOutput(acquire(first), true);
        assertThat(called).containsExactly("first", "second");
        resources.releaseOutput(acquire(second), true);
        assertThat(called).containsExactly("first", "second", "busy");
        acquire(busy);
    }

    @Test
    void whoGivesUpItsTurnLeavesTheBufferToTheNext() {
        StagingBuffer buffer = acquire();
        acquire();
        acquire();
        OutputTurn first = await("first");
        OutputTurn second = await("second");
        OutputTurn third = await("third");

        resources.giveUp(second);
        resources.releaseOutput(buffer, true);
        assertThat(called).containsExactly("first");
        resources.giveUp(first);
        assertThat(called).containsExactly("first", "third");
        acquire(third);
    }

    @Test
    void outputIsShortUntilThereIsABufferThatNobodyWaitsFor() {
        StagingBuffer buffer = acquire();
        acquire();
        acquire();
        assertThat(resources.isOutputShort()).isFalse();
        OutputTurn first = await("first");
        resources.giveUp(first);
        assertThat(resources.isOutputShort()).isTrue();

        OutputTurn second = await("second");
        resources.releaseOutput(buffer, true);
        assertThat(resources.isOutputShort()).isTrue();
        resources.giveUp(second);
        assertThat(resources.isOutputShort()).isFalse();
    }

    @Test
    void shortBuffersAreNotOfTheLimitedNumber() {
        StagingBuffer shortOne = resources.shortOutput();
        assertThat(capacity(shortOne)).isEqualTo(NetSettings.SHORT_OUTPUT_CAPACITY);
        acquire();
        acquire();
        acquire();
        await("waiting");

        resources.releaseOutput(shortOne, true);
        assertThat(called).isEmpty();
        assertThat(resources.shortOutput()).isSameAs(shortOne);
        resources.releaseOutput(shortOne, false);
        assertThat(resources.shortOutput()).isNotSameAs(shortOne);
    }

    @Test
    void aTurnThatHasComeIsNotLostWhenThereWasNoMemory() {
        StagingBuffer buffer = acquire();
        acquire();
        acquire();
        OutputTurn first = await("first");
        resources.releaseOutput(buffer, false);
        memoryLeft = false;
        assertThatThrownBy(() -> acquire(first)).isInstanceOf(OutOfMemoryError.class);
        memoryLeft = true;

        await("second");
        acquire(first);
    }

    @Test
    void countsNoBufferThatThereWasNoMemoryFor() {
        memoryLeft = false;
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(this::acquire).isInstanceOf(OutOfMemoryError.class);
            assertThatThrownBy(resources::lendInput).isInstanceOf(OutOfMemoryError.class);
        }
        memoryLeft = true;

        assertThat(resources.canLendInput()).isTrue();
        assertThat(capacity(acquire())).isEqualTo(NetSettings.LARGE_OUTPUT_CAPACITY);
        assertThat(capacity(acquire())).isEqualTo(STAGING);
        assertThat(capacity(acquire())).isEqualTo(STAGING);
    }

    @Test
    void refusesStagingBuffersThatHoldNoFpduOrAreNoSmallerThanLargeOnes() {
        assertThatThrownBy(() -> settings(STAGING - 1)).hasMessageContaining(STAGING - 1 + " bytes");
        assertThatThrownBy(() -> settings(NetSettings.LARGE_OUTPUT_CAPACITY))
                .hasMessageContaining("less than " + NetSettings.LARGE_OUTPUT_CAPACITY);
    }
}
