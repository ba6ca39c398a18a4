// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.CapacityRequestPolicyBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCapacityBuilder;
import io.sidewarp.operator.agent.device.DeviceName;
import io.sidewarp.operator.agent.device.DeviceNic;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Computes the devices in ResourceSlices. Depends only on its arguments. */
final class Slices {

    /** Largest number of devices in a ResourceSlice. */
    static final int MAX_DEVICES = 128;

    /** Capacity of a device with several allocations: number of its shares. */
    static final String SHARES = "shares";

    private static final Quantity ONE = new Quantity("1");

    private Slices() {}

    /**
     * Returns the devices of each slice. Devices that cannot be used are in none.
     *
     * @param consumableCapacity whether a device can have several allocations; a group of shares is then one device
     */
    static List<List<Device>> of(List<RnicDevice> offered, boolean consumableCapacity) {
        List<Device> devices = new ArrayList<>();
        Map<String, List<RnicDevice>> groups = new LinkedHashMap<>();
        for (RnicDevice device : offered) {
            if (!device.healthy()) {
                continue;
            }
            if (consumableCapacity && isShareable(device)) {
                groups.computeIfAbsent(DeviceName.ofGroup(device).orElseThrow(), _ -> new ArrayList<>())
                        .add(device);
            } else {
                devices.add(device(DeviceName.of(device), device).build());
            }
        }
        groups.forEach((_, shares) -> devices.add(shared(shares.getFirst(), shares.size())));
        List<List<Device>> slices = new ArrayList<>();
        for (int from = 0; from < devices.size(); from += MAX_DEVICES) {
            slices.add(List.copyOf(devices.subList(from, Math.min(devices.size(), from + MAX_DEVICES))));
        }
        return slices;
    }

    /** Returns whether any number of containers can use what is behind a device. */
    static boolean isShareable(RnicDevice device) {
        return device.kind() != ProviderKind.HARDWARE;
    }

    /**
     * Returns the device that stands for a group of shares.
     *
     * @param share one share of the group
     * @param count number of shares of the group
     */
    static Device shared(RnicDevice share, int count) {
        return device(DeviceName.ofGroup(share).orElseThrow(), share)
                .withAllowMultipleAllocations(true)
                .addToCapacity(
                        SHARES,
                        new DeviceCapacityBuilder()
                                .withValue(new Quantity(Integer.toString(count)))
                                .withRequestPolicy(new CapacityRequestPolicyBuilder()
                                        .withDefault(ONE)
                                        .withNewValidRange()
                                        .withMin(ONE)
                                        .endValidRange()
                                        .build())
                                .build())
                .build();
    }

    private static DeviceBuilder device(String name, RnicDevice device) {
        Map<String, DeviceAttribute> attributes = new LinkedHashMap<>();
        text(attributes, "provider", Optional.of(DeviceName.provider(device.kind())));
        text(attributes, "vendor", device.nic().flatMap(DeviceNic::vendorId));
        text(attributes, "driver", device.nic().flatMap(DeviceNic::driver));
        text(attributes, "pciAddress", device.pciAddress());
        text(attributes, "physicalFunction", device.nic().flatMap(DeviceNic::address));
        text(attributes, "rdmaDevice", device.rdmaDevice());
        text(attributes, "interface", device.interfaceName());
        device.numaNode().ifPresent(node -> number(attributes, "numaNode", node));
        text(
                attributes,
                "linkState",
                device.nic()
                        .map(nic -> nic.linkState().name().charAt(0)
                                + nic.linkState().name().substring(1).toLowerCase(java.util.Locale.ROOT)));
        device.nic()
                .map(DeviceNic::linkMegabits)
                .filter(speed -> speed.orElse(0) > 0)
                .ifPresent(speed -> number(attributes, "linkMegabits", speed.getAsInt()));
        attributes.put("shareable", new DeviceAttribute(isShareable(device), null, null, null));
        return new DeviceBuilder().withName(name).withAttributes(attributes);
    }

    private static void text(Map<String, DeviceAttribute> attributes, String name, Optional<String> value) {
        value.ifPresent(text -> attributes.put(name, new DeviceAttribute(null, null, text, null)));
    }

    private static void number(Map<String, DeviceAttribute> attributes, String name, long value) {
        attributes.put(name, new DeviceAttribute(null, value, null, null));
    }
}
