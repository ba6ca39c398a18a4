// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class ManagedBackingTest {

    @Test
    void isZeroedMemoryWithoutAPath() {
        ManagedBacking backing = ManagedBacking.allocate(1000);

        assertThat(backing.length()).isEqualTo(1000);
        assertThat(backing.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        assertThat(backing.path()).isEmpty();
        assertThat(backing.verify()).isTrue();
        backing.close();
    }

    @Test
    void isInaccessibleOnceClosedAndMayBeClosedAgain() {
        ManagedBacking backing = ManagedBacking.allocate(8);

        backing.close();
        backing.close();

        assertThatIllegalStateException().isThrownBy(() -> backing.segment().get(ValueLayout.JAVA_BYTE, 0));
        assertThat(backing.verify()).isFalse();
    }

    @Test
    void hasAtLeastOneOctet() {
        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() -> ManagedBacking.allocate(0))
                .extracting(RegionException::reason)
                .isEqualTo(RegionException.Reason.OUT_OF_BOUNDS);
    }

    @Test
    void saysWhatToDoWhenThereIsNotEnoughMemory() {
        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() -> ManagedBacking.allocate(1L << 50))
                .withMessageContaining("register less, or raise the memory limit")
                .extracting(RegionException::reason)
                .isEqualTo(RegionException.Reason.NO_SPACE);
    }
}
