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
        StagingBuffer buffer = resources.acquireOutput(() -> false);
        assertThat(buffer).isNotNull();
        return buffer;
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
        assertThat(resources.acquireOutput(() -> !called.add("gone"))).isNull();
        assertThat(resources.acquireOutput(() -> called.add("second"))).isNull();
        assertThat(resources.acquireOutput(() -> called.add("third"))).isNull();

        resources.releaseOutput(first, true);
        assertThat(called).containsExactly("gone", "second");
    }

    @Test
    void callsTheNextWhoWaitsOnlyWhileABufferIsFree() {
        StagingBuffer first = acquire();
        acquire();
        acquire();
        assertThat(resources.acquireOutput(() -> called.add("first"))).isNull();
        assertThat(resources.acquireOutput(() -> called.add("second"))).isNull();
        resources.wakeWaiter();
        assertThat(called).isEmpty();

        resources.releaseOutput(first, true);
        resources.wakeWaiter();
        assertThat(called).containsExactly("first", "second");
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
        assertThatThrownBy(() -> settings(STAGING - 1)).hasMessageContaining(STAGING - 1 + " octets");
        assertThatThrownBy(() -> settings(NetSettings.LARGE_OUTPUT_CAPACITY))
                .hasMessageContaining("less than " + NetSettings.LARGE_OUTPUT_CAPACITY);
    }
}
