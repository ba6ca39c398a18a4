// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.grpc.StatusRuntimeException;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateResponse;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Resources, plugins and allocations, with the rules of the kubelet's device manager:
 *
 * <ul>
 *   <li>A later registration replaces an earlier one.
 *   <li>A plugin whose stream has ended has no healthy devices, but they still count in the capacity.
 *   <li>A kubelet that restarts remembers allocations and names of resources, but no devices.
 * </ul>
 */
final class DeviceManager {

    private final Runnable changed;
    private final Map<String, ManagedResource> resources = new TreeMap<>();
    private final List<ContainerAllocation> allocations = new ArrayList<>();

    /**
     * Makes a manager without resources.
     *
     * @param changed called, without a lock, whenever a capacity may have changed
     */
    DeviceManager(Runnable changed) {
        this.changed = changed;
    }

    void register(String resource, PluginEndpoint endpoint) {
        synchronized (this) {
            ManagedResource former = resource(resource);
            former.endpoint().ifPresent(PluginEndpoint::close);
            resources.put(resource, new ManagedResource(former.devices(), Optional.of(endpoint)));
        }
        endpoint.watch(
                devices -> update(resource, endpoint, _ -> new ManagedResource(devices, Optional.of(endpoint))), () -> {
                    endpoint.close();
                    update(resource, endpoint, ManagedResource::withoutPlugin);
                });
    }

    /** Updates a resource unless a newer plugin serves it now. */
    private void update(String name, PluginEndpoint endpoint, UnaryOperator<ManagedResource> update) {
        synchronized (this) {
            ManagedResource resource = resource(name);
            if (!resource.endpoint().equals(Optional.of(endpoint))) {
                return;
            }
            resources.put(name, update.apply(resource));
        }
        changed.run();
    }

    /** Forgets plugins and devices, as a restarting kubelet does. */
    void forgetPlugins() {
        synchronized (this) {
            resources.values().forEach(resource -> resource.endpoint().ifPresent(PluginEndpoint::close));
            resources.replaceAll((name, resource) -> ManagedResource.FORGOTTEN);
        }
        changed.run();
    }

    synchronized ManagedResource resource(String name) {
        return resources.getOrDefault(name, ManagedResource.FORGOTTEN);
    }

    synchronized Map<String, ManagedResource> resources() {
        return Map.copyOf(resources);
    }

    synchronized List<ContainerAllocation> allocations() {
        return List.copyOf(allocations);
    }

    /** Chooses devices with the plugin's advice, and requests them from the plugin. */
    ContainerAllocation allocate(PodName pod, String container, String name, int count) throws AllocationException {
        ManagedResource resource;
        Set<String> available = new LinkedHashSet<>();
        synchronized (this) {
            Optional<ContainerAllocation> present = allocations.stream()
                    .filter(allocation -> allocation.pod().equals(pod)
                            && allocation.container().equals(container)
                            && allocation.resource().equals(name))
                    .findFirst();
            if (present.isPresent()) {
                return present.get();
            }
            resource = resource(name);
            resource.healthy().forEach(device -> available.add(device.getID()));
            allocations.stream()
                    .filter(allocation -> allocation.resource().equals(name))
                    .forEach(allocation -> allocation.deviceIds().forEach(available::remove));
        }
        if (available.size() < count) {
            throw new AllocationException("requested number of devices unavailable for %s. Requested: %d, Available: %d"
                    .formatted(name, count, available.size()));
        }
        try {
            PluginEndpoint endpoint = resource.endpoint().orElseThrow();
            List<String> chosen = choose(endpoint, available, count);
            ContainerAllocateResponse response = endpoint.allocate(chosen);
            ContainerAllocation allocation = new ContainerAllocation(pod, container, name, chosen, response);
            synchronized (this) {
                allocations.add(allocation);
            }
            return allocation;
        } catch (StatusRuntimeException e) {
            throw new AllocationException("Allocate failed due to " + e.getMessage(), e);
        }
    }

    /** Returns the available devices among the plugin's choice, filled up with other available ones. */
    private static List<String> choose(PluginEndpoint endpoint, Set<String> available, int count) {
        Set<String> chosen = new LinkedHashSet<>();
        if (count < available.size()) {
            chosen.addAll(endpoint.preferred(available, count));
            chosen.retainAll(available);
        }
        chosen.addAll(available);
        return chosen.stream().limit(count).toList();
    }

    synchronized void release(PodName pod) {
        allocations.removeIf(allocation -> allocation.pod().equals(pod));
    }
}
