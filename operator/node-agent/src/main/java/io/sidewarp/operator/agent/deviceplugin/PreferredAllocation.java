// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.Status;
import io.grpc.StatusException;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
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
 * Which devices a container best gets. In this order:
 *
 * <ol>
 *   <li>those that it must have;
 *   <li>devices of one kind, and the best kind that suffices;
 *   <li>devices of one NUMA node: that of the devices that it must have, or else the node with the fewest free devices that
 *       suffices, so that larger groups stay whole;
 *   <li>spread over NICs: the next device is of the NIC that the container has the fewest devices of, and of these of the
 *       one with the most free devices. VFs of a NIC share its bandwidth; so several devices of a container, and several
 *       containers, get as much of it as there is.
 * </ol>
 */
final class PreferredAllocation {

    private final Map<String, RnicDevice> devices;

    PreferredAllocation(List<RnicDevice> devices) {
        this.devices = devices.stream().collect(Collectors.toMap(RnicDevice::id, Function.identity()));
    }

    /**
     * @param available ids to choose from; those that the node does not have are skipped
     * @param required ids that are part of the answer
     * @param size how many there are to be
     * @return as many ids as asked for, or fewer when there are not enough
     * @throws StatusException INVALID_ARGUMENT when more are required than there are to be
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
        List<RnicDevice> candidates = new ArrayList<>(sameNumaNode(sameKind(free, held, missing), held, missing));
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

    /** The kind that is used already if it suffices, else the best that does; all if none does. */
    private static List<RnicDevice> sameKind(List<RnicDevice> free, List<RnicDevice> held, int missing) {
        Map<ProviderKind, List<RnicDevice>> byKind = free.stream().collect(Collectors.groupingBy(RnicDevice::kind));
        Set<ProviderKind> used = held.stream().map(RnicDevice::kind).collect(Collectors.toSet());
        return byKind.entrySet().stream()
                .filter(entry -> entry.getValue().size() >= missing)
                .min(Comparator.<Map.Entry<ProviderKind, List<RnicDevice>>, Boolean>comparing(
                                entry -> !used.contains(entry.getKey()))
                        .thenComparing(Map.Entry::getKey))
                .map(Map.Entry::getValue)
                .orElse(free);
    }

    /** The NUMA node that is used already if it suffices, else the smallest that does; all if none does. */
    private static List<RnicDevice> sameNumaNode(List<RnicDevice> free, List<RnicDevice> held, int missing) {
        Map<OptionalInt, List<RnicDevice>> byNode = free.stream().collect(Collectors.groupingBy(RnicDevice::numaNode));
        Set<OptionalInt> used = held.stream().map(RnicDevice::numaNode).collect(Collectors.toSet());
        return byNode.entrySet().stream()
                .filter(entry -> entry.getValue().size() >= missing)
                .min(Comparator.<Map.Entry<OptionalInt, List<RnicDevice>>, Boolean>comparing(
                                entry -> !used.contains(entry.getKey()))
                        .thenComparingInt(entry -> entry.getValue().size())
                        .thenComparingInt(entry -> entry.getKey().orElse(Integer.MAX_VALUE)))
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
