// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.Status;
import io.grpc.StatusException;
import io.sidewarp.operator.agent.device.RnicDevice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Chooses the devices for a container. The rules, in this order:
 *
 * <ol>
 *   <li>Take the required devices.
 *   <li>Take devices of one kind: the kind of the required devices, or else the best kind with enough devices.
 *   <li>Take devices of one NUMA node. Prefer the node of the required devices. Otherwise take the node with the fewest
 *       free devices that has enough, so that larger groups stay whole.
 *   <li>Spread devices over NICs. Take the next device from the NIC of which the container has the fewest devices.
 *       Among equal NICs, take the one with the most free devices. VFs of a NIC share its bandwidth; spreading gives
 *       devices and containers as much bandwidth as possible.
 * </ol>
 */
final class PreferredAllocation {

    private final Map<String, RnicDevice> devices;

    PreferredAllocation(List<RnicDevice> devices) {
        this.devices = devices.stream().collect(Collectors.toMap(RnicDevice::id, Function.identity()));
    }

    /**
     * Returns the ids of the chosen devices.
     *
     * @param available ids to choose from; ids that the node does not have are skipped
     * @param required ids that the answer must contain
     * @param size number of devices to choose
     * @return as many ids as requested, or fewer if there are not enough
     * @throws StatusException INVALID_ARGUMENT if {@code required} has more than {@code size} ids
     */
    List<String> choose(List<String> available, List<String> required, int size) throws StatusException {
        if (required.size() > size) {
            throw Status.INVALID_ARGUMENT
                    .withDescription(required.size() + " devices must be part of an allocation of " + size)
                    .asException();
        }
        Set<String> chosen = new LinkedHashSet<>(required);
        List<RnicDevice> free = find(available).stream()
                .filter(device -> device.healthy() && !chosen.contains(device.id()))
                .toList();
        List<RnicDevice> held = new ArrayList<>(find(required));
        int missing = size - chosen.size();
        List<RnicDevice> candidates = new ArrayList<>(ofOneNumaNode(ofOneKind(free, held, missing), held, missing));
        while (chosen.size() < size && !candidates.isEmpty()) {
            RnicDevice next = leastShared(candidates, held, free);
            chosen.add(next.id());
            held.add(next);
            candidates.remove(next);
        }
        return List.copyOf(chosen);
    }

    private List<RnicDevice> find(List<String> ids) {
        return ids.stream()
                .distinct()
                .flatMap(id -> Stream.ofNullable(devices.get(id)))
                .toList();
    }

    /** Returns the devices of the kind in use or, with too few of them, of the best kind. */
    private static List<RnicDevice> ofOneKind(List<RnicDevice> free, List<RnicDevice> held, int missing) {
        return ofOneGroup(free, held, missing, RnicDevice::kind, Map.Entry.comparingByKey());
    }

    /** Returns the devices of the NUMA node in use or, with too few of them, of the smallest node. */
    private static List<RnicDevice> ofOneNumaNode(List<RnicDevice> free, List<RnicDevice> held, int missing) {
        return ofOneGroup(
                free,
                held,
                missing,
                RnicDevice::numaNode,
                Comparator.<Map.Entry<OptionalInt, List<RnicDevice>>>comparingInt(
                                node -> node.getValue().size())
                        .thenComparingInt(node -> node.getKey().orElse(Integer.MAX_VALUE)));
    }

    /**
     * Returns the devices of one group that has enough: a group in use, or else the first of an order. Returns all
     * devices if no group has enough.
     */
    private static <K> List<RnicDevice> ofOneGroup(
            List<RnicDevice> free,
            List<RnicDevice> held,
            int missing,
            Function<RnicDevice, K> group,
            Comparator<Map.Entry<K, List<RnicDevice>>> order) {
        Set<K> used = held.stream().map(group).collect(Collectors.toSet());
        return free.stream().collect(Collectors.groupingBy(group)).entrySet().stream()
                .filter(entry -> entry.getValue().size() >= missing)
                .min(Comparator.<Map.Entry<K, List<RnicDevice>>, Boolean>comparing(
                                entry -> !used.contains(entry.getKey()))
                        .thenComparing(order))
                .map(Map.Entry::getValue)
                .orElse(free);
    }

    private static RnicDevice leastShared(List<RnicDevice> candidates, List<RnicDevice> held, List<RnicDevice> free) {
        Map<String, Long> heldOf = countByLink(held);
        Map<String, Long> freeOf = countByLink(free);
        return candidates.stream()
                .min(Comparator.comparing(RnicDevice::kind)
                        .thenComparingLong(device -> heldOf.getOrDefault(device.sharedLink(), 0L))
                        .thenComparingLong(device -> -freeOf.getOrDefault(device.sharedLink(), 0L))
                        .thenComparing(RnicDevice::id))
                .orElseThrow();
    }

    private static Map<String, Long> countByLink(List<RnicDevice> devices) {
        return devices.stream().collect(Collectors.groupingBy(RnicDevice::sharedLink, Collectors.counting()));
    }
}
