// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.StatusException;
import io.sidewarp.operator.agent.device.RnicDevice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class PreferredAllocationTest {

    /** Two NICs on NUMA node 0 with three VFs each, one NIC on node 1 with two VFs. */
    private final List<RnicDevice> devices = new ArrayList<>();

    PreferredAllocationTest() {
        for (String nic : List.of("a", "b")) {
            for (int vf = 0; vf < 3; vf++) {
                devices.add(vf(nic, vf).onNumaNode(0));
            }
        }
        devices.add(vf("c", 0).onNumaNode(1));
        devices.add(vf("c", 1).onNumaNode(1));
    }

    @Test
    void staysOnOneNumaNodeAndTakesTheSmallestThatSuffices() throws StatusException {
        assertThat(choose(2, "a0", "a1", "b0", "c0", "c1")).containsExactlyInAnyOrder("c0", "c1");
    }

    @Test
    void takesALargerNumaNodeRatherThanTwo() throws StatusException {
        assertThat(choose(3, "a0", "a1", "b0", "c0", "c1")).containsExactlyInAnyOrder("a0", "a1", "b0");
    }

    @Test
    void takesTheNumaNodeOfTheDevicesThatMustBeThere() throws StatusException {
        assertThat(new PreferredAllocation(devices).choose(List.of("a0", "b0", "c0", "c1"), List.of("a0"), 2))
                .containsExactly("a0", "b0");
    }

    @Test
    void spreadsTheDevicesOfAContainerOverNics() throws StatusException {
        assertThat(choose(2, "a0", "a1", "a2", "b0")).containsExactlyInAnyOrder("a0", "b0");
    }

    @Test
    void takesTheNicThatIsUsedLeast() throws StatusException {
        assertThat(choose(1, "a2", "b0", "b1")).containsExactly("b0");
    }

    @Test
    void takesTheBestKindThatSuffices() throws StatusException {
        devices.add(RnicDevice.soft(0));
        devices.add(RnicDevice.soft(1));
        assertThat(choose(1, "soft-0", "soft-1", "c0")).containsExactly("c0");
        assertThat(choose(2, "soft-0", "soft-1", "c0")).containsExactlyInAnyOrder("soft-0", "soft-1");
        assertThat(choose(3, "soft-0", "soft-1", "c0")).startsWith("c0").hasSize(3);
    }

    @Test
    void usesSeveralNumaNodesWhenNoneSuffices() throws StatusException {
        assertThat(choose(4, "a0", "b0", "c0", "c1")).hasSize(4);
    }

    @Test
    void skipsDevicesThatAreNotThereOrNotHealthy() throws StatusException {
        devices.set(0, devices.getFirst().faulty("gone"));
        assertThat(choose(2, "a0", "a1", "z9")).containsExactly("a1");
    }

    @Test
    void refusesToLeaveOutWhatMustBeThere() {
        assertThatThrownBy(() -> new PreferredAllocation(devices).choose(List.of("a0"), List.of("b0", "b1"), 1))
                .isInstanceOf(StatusException.class)
                .hasMessageContaining("INVALID_ARGUMENT");
    }

    private List<String> choose(int size, String... available) throws StatusException {
        return new PreferredAllocation(devices).choose(Arrays.asList(available), List.of(), size);
    }

    private static RnicDevice vf(String nic, int number) {
        return RnicDevice.hardware(nic + number, "iwp" + nic + number, "uverbs" + number)
                .ofPhysicalFunction(nic);
    }
}
