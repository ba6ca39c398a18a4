// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.ResourcePool;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes the ResourceSlices of the node. All devices of the node are one pool. The slices are found by their names
 * alone, since the agent may not list the slices of other nodes. Not thread-safe.
 */
final class SlicePublisher {

    private final KubernetesClient client;
    private final String node;
    private volatile Optional<OwnerReference> owner = Optional.empty();
    private @Nullable Boolean consumableCapacity;

    SlicePublisher(KubernetesClient client, String node) {
        this.client = client;
        this.node = node;
    }

    /** Sets the owner of later slices: the Node, so that the slices go with it. */
    void ownedBy(Optional<OwnerReference> node) {
        owner = node;
    }

    /** Forgets what the API server can do: the server may be another version now. */
    void forgetServer() {
        consumableCapacity = null;
    }

    /**
     * Makes the slices offer some devices, and nothing else. Writes nothing if they do already.
     *
     * @throws KubernetesClientException if the API server does not answer or refuses
     */
    void publish(List<RnicDevice> devices) {
        List<List<Device>> wanted =
                Slices.of(devices, devices.stream().anyMatch(Slices::isShareable) && hasConsumableCapacity(devices));
        NavigableMap<Integer, ResourceSlice> present = present(wanted.size());
        long generation = present.values().stream()
                .mapToLong(slice -> slice.getSpec().getPool().getGeneration())
                .max()
                .orElse(0);
        if (!isPublished(wanted, present, generation)) {
            for (int i = 0; i < wanted.size(); i++) {
                write(i, wanted, generation + 1, present.get(i));
            }
        }
        // The last slice goes first: if its deletion fails, the next publication still finds all slices.
        present.tailMap(wanted.size(), true)
                .descendingMap()
                .values()
                .forEach(slice -> client.resource(slice).delete());
    }

    /** Returns whether an API server keeps the fields of devices with several allocations. */
    private boolean hasConsumableCapacity(List<RnicDevice> devices) {
        Boolean known = consumableCapacity;
        if (known != null) {
            return known;
        }
        RnicDevice share =
                devices.stream().filter(Slices::isShareable).findFirst().orElseThrow();
        ResourceSlice probe = slice("probe", List.of(Slices.shared(share, 1)), 1, 1);
        ResourceSlice kept = client.resource(probe).dryRun().create();
        known = kept.getSpec().getDevices().stream()
                .allMatch(device -> Boolean.TRUE.equals(device.getAllowMultipleAllocations()));
        consumableCapacity = known;
        return known;
    }

    /** Returns the present slices by number, whether wanted or not. Surplus slices have no gap before them. */
    private NavigableMap<Integer, ResourceSlice> present(int wanted) {
        NavigableMap<Integer, ResourceSlice> slices = new TreeMap<>();
        long count = Math.max(1, wanted);
        for (int i = 0; i < count; i++) {
            ResourceSlice slice = client.resources(ResourceSlice.class)
                    .withName(name(Integer.toString(i)))
                    .get();
            if (slice != null) {
                slices.put(i, slice);
                count = Math.max(
                        count, Math.max(i + 2, slice.getSpec().getPool().getResourceSliceCount()));
            }
        }
        return slices;
    }

    private static boolean isPublished(
            List<List<Device>> wanted, Map<Integer, ResourceSlice> present, long generation) {
        for (int i = 0; i < wanted.size(); i++) {
            ResourceSlice slice = present.get(i);
            if (slice == null
                    || !slice.getSpec().getDevices().equals(wanted.get(i))
                    || slice.getSpec().getPool().getGeneration() != generation
                    || slice.getSpec().getPool().getResourceSliceCount() != wanted.size()) {
                return false;
            }
        }
        return true;
    }

    private void write(int index, List<List<Device>> wanted, long generation, @Nullable ResourceSlice present) {
        ResourceSlice slice = slice(Integer.toString(index), wanted.get(index), generation, wanted.size());
        if (present == null) {
            client.resource(slice).create();
        } else {
            slice.getMetadata().setResourceVersion(present.getMetadata().getResourceVersion());
            client.resource(slice).update();
        }
    }

    private ResourceSlice slice(String suffix, List<Device> devices, long generation, int count) {
        return new ResourceSliceBuilder()
                .withMetadata(new ObjectMetaBuilder()
                        .withName(name(suffix))
                        .withOwnerReferences(owner.stream().toList())
                        .build())
                .withNewSpec()
                .withDriver(SidewarpApi.RNIC_DRIVER)
                .withNodeName(node)
                .withPool(new ResourcePool(generation, node, (long) count))
                .withDevices(devices)
                .endSpec()
                .build();
    }

    private String name(String suffix) {
        return node + "-rnic-" + suffix;
    }
}
