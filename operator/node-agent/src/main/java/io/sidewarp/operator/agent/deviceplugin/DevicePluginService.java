// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.kubelet.DevicePluginApi;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.AllocateRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.AllocateResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerPreferredAllocationResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.DevicePluginGrpc;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.DevicePluginOptions;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Empty;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ListAndWatchResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.NUMANode;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.PreferredAllocationRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.PreferredAllocationResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.TopologyInfo;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Answers the kubelet's calls. Keeps no record of allocations: the kubelet has it. */
final class DevicePluginService extends DevicePluginGrpc.DevicePluginImplBase {

    /**
     * Options of the plugin. PreStartContainer is not requested, since devices need no preparation before a container
     * starts.
     */
    static final DevicePluginOptions OPTIONS = DevicePluginOptions.newBuilder()
            .setGetPreferredAllocationAvailable(true)
            .build();

    private final DeviceInventory inventory;
    private final Set<DeviceListStream> streams = ConcurrentHashMap.newKeySet();

    DevicePluginService(DeviceInventory inventory) {
        this.inventory = inventory;
    }

    /** Sends the present list to all watchers whose last list differs. */
    void update() {
        streams.forEach(DeviceListStream::update);
    }

    /** Ends all calls of ListAndWatch. */
    void complete() {
        streams.forEach(DeviceListStream::complete);
        streams.clear();
    }

    /** Returns whether a kubelet watches the devices. */
    boolean watched() {
        return !streams.isEmpty();
    }

    @Override
    public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> response) {
        response.onNext(OPTIONS);
        response.onCompleted();
    }

    @Override
    public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> response) {
        ServerCallStreamObserver<ListAndWatchResponse> kubelet =
                (ServerCallStreamObserver<ListAndWatchResponse>) response;
        DeviceListStream stream = new DeviceListStream(kubelet, this::list);
        streams.add(stream);
        kubelet.setOnCancelHandler(() -> streams.remove(stream));
        stream.update();
    }

    @Override
    public void getPreferredAllocation(
            PreferredAllocationRequest request, StreamObserver<PreferredAllocationResponse> response) {
        PreferredAllocation preferred = new PreferredAllocation(devices());
        PreferredAllocationResponse.Builder answer = PreferredAllocationResponse.newBuilder();
        try {
            for (ContainerPreferredAllocationRequest container : request.getContainerRequestsList()) {
                answer.addContainerResponses(ContainerPreferredAllocationResponse.newBuilder()
                        .addAllDeviceIDs(preferred.choose(
                                container.getAvailableDeviceIDsList(),
                                container.getMustIncludeDeviceIDsList(),
                                container.getAllocationSize())));
            }
        } catch (StatusException e) {
            response.onError(e);
            return;
        }
        response.onNext(answer.build());
        response.onCompleted();
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> response) {
        Allocation allocation = new Allocation(devices());
        AllocateResponse.Builder answer = AllocateResponse.newBuilder();
        try {
            for (ContainerAllocateRequest container : request.getContainerRequestsList()) {
                answer.addContainerResponses(allocation.allocate(container.getDevicesIdsList()));
            }
        } catch (StatusException e) {
            // The kubelet took an unusable device for usable: send the list again.
            update();
            response.onError(e);
            return;
        }
        response.onNext(answer.build());
        response.onCompleted();
    }

    private List<RnicDevice> devices() {
        return inventory.devices().orElse(List.of());
    }

    private ListAndWatchResponse list() {
        ListAndWatchResponse.Builder list = ListAndWatchResponse.newBuilder();
        devices().forEach(device -> list.addDevices(describe(device)));
        return list.build();
    }

    private static Device describe(RnicDevice device) {
        Device.Builder description = Device.newBuilder()
                .setID(device.id())
                .setHealth(device.healthy() ? DevicePluginApi.HEALTHY : DevicePluginApi.UNHEALTHY);
        device.numaNode()
                .ifPresent(node -> description.setTopology(
                        TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(node))));
        return description.build();
    }

    /**
     * One call of ListAndWatch. Sends the list at once, and again whenever the list differs from the last one sent. A slow
     * kubelet gets only the newest list when it reads again; older lists are not queued.
     */
    private static final class DeviceListStream {

        private final ServerCallStreamObserver<ListAndWatchResponse> kubelet;
        private final Supplier<ListAndWatchResponse> list;
        private ListAndWatchResponse sent = ListAndWatchResponse.getDefaultInstance();
        private boolean anySent;
        private boolean completed;

        /** Must be called in the handler of the call, since the ready handler can be set only there. */
        DeviceListStream(ServerCallStreamObserver<ListAndWatchResponse> kubelet, Supplier<ListAndWatchResponse> list) {
            this.kubelet = kubelet;
            this.list = list;
            kubelet.setOnReadyHandler(this::update);
        }

        synchronized void update() {
            if (completed || !kubelet.isReady()) {
                return;
            }
            ListAndWatchResponse now = list.get();
            if (!anySent || !now.equals(sent)) {
                anySent = true;
                sent = now;
                kubelet.onNext(now);
            }
        }

        synchronized void complete() {
            if (!completed) {
                completed = true;
                kubelet.onCompleted();
            }
        }
    }
}
