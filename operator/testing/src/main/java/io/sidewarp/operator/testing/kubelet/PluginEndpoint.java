// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.AllocateRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.DevicePluginGrpc;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.DevicePluginOptions;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Empty;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ListAndWatchResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.PreStartContainerRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.PreferredAllocationRequest;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Connection to a registered plugin. */
final class PluginEndpoint implements AutoCloseable {

    /** Deadline of calls. The kubelet waits forever, but a test must not. */
    private static final long DEADLINE_SECONDS = 30;

    private final ManagedChannel channel;
    private final DevicePluginOptions options;

    PluginEndpoint(ManagedChannel channel, DevicePluginOptions options) {
        this.channel = channel;
        this.options = options;
    }

    /** Calls ListAndWatch. {@code devices} receives each list; {@code ended} is called when the plugin is gone. */
    void watch(Consumer<List<Device>> devices, Runnable ended) {
        DevicePluginGrpc.newStub(channel).listAndWatch(Empty.getDefaultInstance(), new StreamObserver<>() {
            @Override
            public void onNext(ListAndWatchResponse response) {
                devices.accept(response.getDevicesList());
            }

            @Override
            public void onError(Throwable failure) {
                ended.run();
            }

            @Override
            public void onCompleted() {
                ended.run();
            }
        });
    }

    /** Returns the plugin's choice; empty if the plugin does not offer GetPreferredAllocation. */
    List<String> preferred(Collection<String> available, int count) throws StatusRuntimeException {
        if (!options.getGetPreferredAllocationAvailable()) {
            return List.of();
        }
        PreferredAllocationRequest request = PreferredAllocationRequest.newBuilder()
                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                        .addAllAvailableDeviceIDs(available)
                        .setAllocationSize(count))
                .build();
        return stub().getPreferredAllocation(request).getContainerResponses(0).getDeviceIDsList();
    }

    ContainerAllocateResponse allocate(List<String> ids) throws StatusRuntimeException {
        ContainerAllocateResponse response = stub().allocate(AllocateRequest.newBuilder()
                        .addContainerRequests(
                                ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids))
                        .build())
                .getContainerResponses(0);
        if (options.getPreStartRequired()) {
            stub().preStartContainer(PreStartContainerRequest.newBuilder()
                    .addAllDevicesIds(ids)
                    .build());
        }
        return response;
    }

    private DevicePluginGrpc.DevicePluginBlockingStub stub() {
        return DevicePluginGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
