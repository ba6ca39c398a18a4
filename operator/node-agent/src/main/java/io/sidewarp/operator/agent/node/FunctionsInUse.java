// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.VirtualFunctionUse;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Asks the kubelet which pods use which functions, without pods that have ended. Withheld functions are published as
 * faulty, so that the kubelet allocates none while they change. The next publication of all devices offers them again.
 */
final class FunctionsInUse implements VirtualFunctionUse {
    private final DevicesInUse inUse;
    private final Predicate<String> hasEnded;
    private final List<PublishedDevices> offers;

    /**
     * Makes an object that asks and withholds.
     *
     * @param hasEnded tells whether a pod, as namespace/name, has ended
     * @param offers everything that offers devices to pods
     */
    FunctionsInUse(DevicesInUse inUse, Predicate<String> hasEnded, PublishedDevices... offers) {
        this.inUse = inUse;
        this.hasEnded = hasEnded;
        this.offers = List.of(offers);
    }

    @Override
    public List<String> users(PciAddress function) {
        try {
            return inUse.users().getOrDefault(function.value(), List.of()).stream()
                    .filter(hasEnded.negate())
                    .toList();
        } catch (IOException e) {
            return List.of("unknown pods (" + e.getMessage() + ")");
        }
    }

    @Override
    public void withhold(Set<PciAddress> functions) {
        Set<String> ids = functions.stream().map(PciAddress::value).collect(Collectors.toSet());
        offers.forEach(devices -> devices.devices()
                .ifPresent(present -> devices.publish(present.stream()
                        .map(device -> device.healthy() && ids.contains(device.id())
                                ? device.faulty("it is about to change")
                                : device)
                        .toList())));
    }
}
