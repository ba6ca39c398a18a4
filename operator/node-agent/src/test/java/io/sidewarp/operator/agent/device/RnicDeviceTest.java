// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class RnicDeviceTest {

    @Test
    void hasAnIdThatDependsOnTheDeviceOnly() {
        assertThat(RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0").id())
                .isEqualTo(
                        RnicDevice.hardware("0000:3b:01.0", "iwp7", "uverbs7").id())
                .isEqualTo("0000:3b:01.0");
        assertThat(RnicDevice.kernelSiw("siw0", 12, "uverbs0").id()).isEqualTo("siw/siw0-12");
        assertThat(RnicDevice.soft(3).id()).isEqualTo("soft-3");
    }

    @Test
    void hasNoIdThatTheKubeletWouldNotTake() {
        assertThatThrownBy(() -> RnicDevice.kernelSiw("x".repeat(60), 0, "uverbs0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("63 characters");
    }

    /** With which SiwLinks is content, and as many shares as a policy may ask for. */
    @Test
    void hasAnIdForTheLongestNameOfASiwDevice() {
        assertThat(RnicDevice.kernelSiw("x".repeat(54), 1023, "uverbs0").id()).endsWith("-1023");
    }

    @Test
    void isPublishedOnce() {
        assertThatThrownBy(() -> new PublishedDevices().publish(List.of(RnicDevice.soft(0), RnicDevice.soft(0))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("soft-0");
    }
}
