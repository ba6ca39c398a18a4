// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute;
import io.sidewarp.operator.agent.device.DeviceNic;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SlicesTest {

    private static final RnicDevice FUNCTION = RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0")
            .withInterface("eth4")
            .onNumaNode(1)
            .onNic(new DeviceNic(
                    Optional.of("0000:3b:00.0"),
                    Optional.of("8086"),
                    Optional.of("ice"),
                    LinkState.UP,
                    OptionalInt.of(25000)));

    @Test
    void aVirtualFunctionHasAttributesToSelectItBy() {
        Device device = Slices.of(List.of(FUNCTION), true).getFirst().getFirst();

        assertThat(device.getName()).isEqualTo("0000-3b-01-0");
        assertThat(device.getAllowMultipleAllocations()).isNull();
        assertThat(device.getAttributes())
                .isEqualTo(Map.ofEntries(
                        Map.entry("provider", text("hardware")),
                        Map.entry("vendor", text("8086")),
                        Map.entry("driver", text("ice")),
                        Map.entry("pciAddress", text("0000:3b:01.0")),
                        Map.entry("physicalFunction", text("0000:3b:00.0")),
                        Map.entry("rdmaDevice", text("iwp0")),
                        Map.entry("interface", text("eth4")),
                        Map.entry("numaNode", new DeviceAttribute(null, 1L, null, null)),
                        Map.entry("linkState", text("Up")),
                        Map.entry("linkMegabits", new DeviceAttribute(null, 25000L, null, null)),
                        Map.entry("shareable", new DeviceAttribute(false, null, null, null))));
    }

    @Test
    void sharesAreSixteenDevicesWithACapacityWhereADeviceCanHaveSeveralAllocations() {
        List<RnicDevice> shares = IntStream.range(0, 65)
                .mapToObj(share -> RnicDevice.kernelSiw("sidewarp-eth0", share, "uverbs0"))
                .toList();

        assertThat(Slices.of(shares, true))
                .singleElement()
                .satisfies(slice -> assertThat(slice).hasSize(16).last().satisfies(device -> {
                    assertThat(device.getName()).isEqualTo("siw-shared-15");
                    assertThat(device.getAllowMultipleAllocations()).isTrue();
                    assertThat(device.getAttributes()).containsEntry("provider", text("kernel-siw"));
                    assertThat(device.getCapacity().get("shares").getValue()).isEqualTo(new Quantity("4"));
                    assertThat(device.getCapacity()
                                    .get("shares")
                                    .getRequestPolicy()
                                    .getDefault())
                            .isEqualTo(new Quantity("1"));
                }));
    }

    @Test
    void sharesAreDevicesOfTheirOwnElsewhereAtMost128InASlice() {
        List<RnicDevice> shares =
                IntStream.range(0, 300).mapToObj(RnicDevice::soft).toList();

        List<List<Device>> slices = Slices.of(shares, false);

        assertThat(slices).extracting(List::size).containsExactly(128, 128, 44);
        assertThat(slices.stream().flatMap(List::stream).map(Device::getName))
                .doesNotHaveDuplicates()
                .contains("soft-0", "soft-299");
    }

    @Test
    void devicesThatCannotBeUsedAreInNoSlice() {
        assertThat(Slices.of(List.of(FUNCTION.faulty("the link is down")), true))
                .isEmpty();
        assertThat(Slices.of(List.of(RnicDevice.soft(0), RnicDevice.soft(1).faulty("it changes")), true))
                .singleElement()
                .satisfies(slice -> assertThat(
                                slice.getFirst().getCapacity().get("shares").getValue())
                        .isEqualTo(new Quantity("1")));
    }

    private static DeviceAttribute text(String value) {
        return new DeviceAttribute(null, null, value, null);
    }
}
