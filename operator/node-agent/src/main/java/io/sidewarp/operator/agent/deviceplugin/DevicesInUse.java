// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.sidewarp.operator.agent.device.DeviceName;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.kubelet.UnixTransport;
import io.sidewarp.operator.kubelet.podresources.v1.ContainerDevices;
import io.sidewarp.operator.kubelet.podresources.v1.ContainerResources;
import io.sidewarp.operator.kubelet.podresources.v1.ListPodResourcesRequest;
import io.sidewarp.operator.kubelet.podresources.v1.ListPodResourcesResponse;
import io.sidewarp.operator.kubelet.podresources.v1.PodResources;
import io.sidewarp.operator.kubelet.podresources.v1.PodResourcesListerGrpc;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Asks the kubelet which pods have which devices. Covers devices of {@code sidewarp.io/rnic}, PCI functions of any
 * plugin, and devices of claims.
 */
public final class DevicesInUse implements AutoCloseable {

    /** Form of a device id in device plugins for SR-IOV. */
    private static final Pattern PCI_FUNCTION = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}[.][0-7]");

    private final UnixTransport transport = new UnixTransport("pod-resources");
    private final Path socket;
    private final Duration timeout;
    private final ManagedChannel channel;
    private final Supplier<Map<String, List<String>>> prepared;

    /** Makes a client. It connects at the first call of {@link #users()}, and again after the kubelet has restarted. */
    public DevicesInUse(DevicePluginConfig config) {
        this(config, Map::of);
    }

    /**
     * Makes a client that knows prepared claims, too.
     *
     * @param prepared returns the claims for which each device is prepared, by the device's id
     */
    public DevicesInUse(DevicePluginConfig config, Supplier<Map<String, List<String>>> prepared) {
        this.prepared = prepared;
        socket = config.podResourcesSocket();
        timeout = config.kubeletTimeout();
        channel = transport.channel(socket);
    }

    /**
     * Returns the pods that have each device, as namespace/name, and the claims for which it is prepared, by device id.
     * Free devices are absent. A device stays prepared after its pod has ended until the kubelet unprepares it.
     *
     * @throws IOException if the kubelet does not answer; the users are then unknown, and no device may be considered
     *     free
     */
    public Map<String, List<String>> users() throws IOException {
        Map<String, List<String>> users = users(container -> Stream.concat(devices(container), claimed(container)));
        prepared.get()
                .forEach((id, claims) ->
                        users.computeIfAbsent(id, _ -> new ArrayList<>()).addAll(claims));
        return users;
    }

    /**
     * Returns the pods that have each device from a device plugin, as namespace/name, by device id.
     *
     * @throws IOException if the kubelet does not answer
     */
    public Map<String, List<String>> pluginUsers() throws IOException {
        return users(DevicesInUse::devices);
    }

    private Map<String, List<String>> users(Function<ContainerResources, Stream<String>> ids) throws IOException {
        ListPodResourcesResponse list;
        try {
            // Avoids an immediate UNAVAILABLE after a restart, while gRPC waits before it connects again.
            channel.resetConnectBackoff();
            list = PodResourcesListerGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
                    .list(ListPodResourcesRequest.getDefaultInstance());
        } catch (StatusRuntimeException e) {
            throw new IOException(
                    "the kubelet at " + socket + " does not list the devices of pods: " + e.getMessage()
                            + "; check the setting sidewarp.agent.pod-resources-socket",
                    e);
        }
        Map<String, List<String>> users = new HashMap<>();
        for (PodResources pod : list.getPodResourcesList()) {
            String name = pod.getNamespace() + "/" + pod.getName();
            // Containers of one pod can use a device one after the other, such as an init container and its successor.
            pod.getContainersList().stream()
                    .flatMap(ids)
                    .distinct()
                    .forEach(id ->
                            users.computeIfAbsent(id, _ -> new ArrayList<>()).add(name));
        }
        return users;
    }

    private static Stream<String> devices(ContainerResources container) {
        return container.getDevicesList().stream().flatMap(DevicesInUse::ids);
    }

    private static Stream<String> claimed(ContainerResources container) {
        return container.getDynamicResourcesList().stream()
                .flatMap(claim -> claim.getClaimResourcesList().stream())
                .filter(device -> device.getDriverName().equals(SidewarpApi.RNIC_DRIVER))
                .map(device -> DeviceName.approximateId(device.getDeviceName()));
    }

    private static Stream<String> ids(ContainerDevices devices) {
        boolean own = devices.getResourceName().equals(SidewarpApi.RNIC_RESOURCE);
        return devices.getDeviceIdsList().stream()
                .filter(id -> own || PCI_FUNCTION.matcher(id).matches());
    }

    @Override
    public void close() {
        channel.shutdownNow();
        transport.close();
    }
}
