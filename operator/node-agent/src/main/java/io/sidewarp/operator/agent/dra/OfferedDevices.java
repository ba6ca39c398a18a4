// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.dra.PreparedClaim.PreparedDevice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Divides the devices of the node between the device plugin and claims, so that each device is offered by one of them.
 * A device changes over in two steps: first neither offers it to new pods, and at a later look, when no pod has it any
 * more, the other one does. Not thread-safe.
 */
public final class OfferedDevices {

    private enum Mechanism {
        DEVICE_PLUGIN("the device plugin"),
        CLAIMS("ResourceClaims");

        private final String text;

        Mechanism(String text) {
            this.text = text;
        }
    }

    /**
     * The devices of a node.
     *
     * @param plugin devices that the device plugin offers; those that change over are faulty
     * @param claims devices that claims can have
     * @param waiting reasons to wait before devices change over
     */
    public record Division(List<RnicDevice> plugin, List<RnicDevice> claims, List<String> waiting) {

        public Division {
            plugin = List.copyOf(plugin);
            claims = List.copyOf(claims);
            waiting = List.copyOf(waiting);
        }
    }

    private final Supplier<List<PreparedClaim>> prepared;
    private final Map<String, Mechanism> offeredBy = new HashMap<>();
    private final Set<String> withheld = new HashSet<>();

    /** Makes a division for the claims of a driver. */
    public OfferedDevices(DraDriver driver) {
        this(driver::prepared);
    }

    OfferedDevices(Supplier<List<PreparedClaim>> prepared) {
        this.prepared = prepared;
    }

    /**
     * Divides devices.
     *
     * @param wanted whether a device is to be offered to claims
     * @param pluginUsers pods that have a device from the device plugin, by the device's id; empty if the kubelet does
     *     not tell
     */
    public Division divide(
            List<RnicDevice> devices, Predicate<RnicDevice> wanted, Optional<Map<String, List<String>>> pluginUsers) {
        Map<String, List<String>> claimUsers = claimUsers(
                devices, prepared.get(), pluginUsers.orElseGet(Map::of).keySet());
        List<RnicDevice> plugin = new ArrayList<>();
        List<RnicDevice> claims = new ArrayList<>();
        Map<String, List<String>> waits = new LinkedHashMap<>();
        for (RnicDevice device : devices) {
            Mechanism to = wanted.test(device) ? Mechanism.CLAIMS : Mechanism.DEVICE_PLUGIN;
            Mechanism by = offeredBy.computeIfAbsent(device.id(), id -> firstOffer(id, to, pluginUsers, claimUsers));
            if (by != to && isFree(device.id(), by, pluginUsers, claimUsers)) {
                by = to;
                offeredBy.put(device.id(), to);
            }
            if (by == to) {
                withheld.remove(device.id());
                (to == Mechanism.CLAIMS ? claims : plugin).add(device);
                continue;
            }
            withheld.add(device.id());
            if (by == Mechanism.DEVICE_PLUGIN) {
                plugin.add(device.healthy() ? device.faulty("it changes to " + to.text) : device);
            }
            List<String> users = (by == Mechanism.CLAIMS ? claimUsers : pluginUsers.orElseGet(Map::of))
                    .getOrDefault(device.id(), List.of());
            waits.computeIfAbsent("devices change from " + by.text + " to " + to.text, _ -> new ArrayList<>())
                    .add(users.isEmpty() ? device.id() : device.id() + " is used by " + String.join(", ", users));
        }
        Set<String> present = new HashSet<>();
        devices.forEach(device -> present.add(device.id()));
        offeredBy.keySet().retainAll(present);
        withheld.retainAll(present);
        List<String> waiting = new ArrayList<>();
        waits.forEach((change, which) -> waiting.add(change + ": " + shortened(which)));
        return new Division(plugin, claims, waiting);
    }

    /** Returns who offers a device at the first look: its present user, or else the wanted one. */
    private static Mechanism firstOffer(
            String id,
            Mechanism wanted,
            Optional<Map<String, List<String>>> pluginUsers,
            Map<String, List<String>> claimUsers) {
        if (claimUsers.containsKey(id)) {
            return Mechanism.CLAIMS;
        }
        // While the kubelet does not tell, a pod may have the device.
        return pluginUsers.isEmpty() || pluginUsers.get().containsKey(id) ? Mechanism.DEVICE_PLUGIN : wanted;
    }

    /** Returns whether a device was withheld at an earlier look, and no pod has it now. */
    private boolean isFree(
            String id,
            Mechanism by,
            Optional<Map<String, List<String>>> pluginUsers,
            Map<String, List<String>> claimUsers) {
        return withheld.contains(id)
                && (by == Mechanism.CLAIMS
                        ? !claimUsers.containsKey(id)
                        : pluginUsers.isPresent() && !pluginUsers.get().containsKey(id));
    }

    /**
     * Returns the claims that have each device. A claim of a device with several allocations has a number of shares,
     * and no certain ones. The last shares count as used that the device plugin has not given to a pod.
     */
    private static Map<String, List<String>> claimUsers(
            List<RnicDevice> devices, List<PreparedClaim> prepared, Set<String> usedOtherwise) {
        Map<String, List<String>> users = new HashMap<>();
        for (PreparedClaim claim : prepared) {
            for (PreparedDevice device : claim.devices()) {
                devices.stream()
                        .filter(device::means)
                        .filter(each -> !device.isShared()
                                || !users.containsKey(each.id()) && !usedOtherwise.contains(each.id()))
                        .map(RnicDevice::id)
                        .sorted(Comparator.comparingInt(String::length)
                                .thenComparing(Comparator.naturalOrder())
                                .reversed())
                        .limit(device.isShared() ? device.shares() : 1)
                        .toList()
                        .forEach(id -> users.computeIfAbsent(id, _ -> new ArrayList<>())
                                .add(claim.toString()));
            }
        }
        return users;
    }

    private static String shortened(List<String> which) {
        int shown = 5;
        return which.size() <= shown
                ? String.join("; ", which)
                : String.join("; ", which.subList(0, shown)) + "; and " + (which.size() - shown) + " more";
    }
}
