// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.kubelet.dra.v1.Device;
import io.sidewarp.operator.kubelet.podresources.v1.AllocatableResourcesRequest;
import io.sidewarp.operator.kubelet.podresources.v1.AllocatableResourcesResponse;
import io.sidewarp.operator.kubelet.podresources.v1.ClaimResource;
import io.sidewarp.operator.kubelet.podresources.v1.ContainerDevices;
import io.sidewarp.operator.kubelet.podresources.v1.ContainerResources;
import io.sidewarp.operator.kubelet.podresources.v1.DynamicResource;
import io.sidewarp.operator.kubelet.podresources.v1.ListPodResourcesRequest;
import io.sidewarp.operator.kubelet.podresources.v1.ListPodResourcesResponse;
import io.sidewarp.operator.kubelet.podresources.v1.NUMANode;
import io.sidewarp.operator.kubelet.podresources.v1.PodResources;
import io.sidewarp.operator.kubelet.podresources.v1.PodResourcesListerGrpc;
import io.sidewarp.operator.kubelet.podresources.v1.TopologyInfo;
import java.util.LinkedHashMap;
import java.util.Map;

/** Serves the devices of pods. Answers have one entry for each device, as a kubelet's do. */
final class PodResourcesService extends PodResourcesListerGrpc.PodResourcesListerImplBase {

    private final DeviceManager devices;
    private final DraManager claims;

    PodResourcesService(DeviceManager devices, DraManager claims) {
        this.devices = devices;
        this.claims = claims;
    }

    @Override
    public void list(ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> response) {
        Map<PodName, PodResources.Builder> pods = new LinkedHashMap<>();
        for (ContainerAllocation allocation : devices.allocations()) {
            ContainerResources.Builder container =
                    ContainerResources.newBuilder().setName(allocation.container());
            for (String id : allocation.deviceIds()) {
                container.addDevices(ContainerDevices.newBuilder()
                        .setResourceName(allocation.resource())
                        .addDeviceIds(id));
            }
            pods.computeIfAbsent(allocation.pod(), PodResourcesService::describe)
                    .addContainers(container);
        }
        for (DraManager.Prepared claim : claims.prepared()) {
            DynamicResource.Builder resource = DynamicResource.newBuilder()
                    .setClaimName(claim.claim().getName())
                    .setClaimNamespace(claim.claim().getNamespace());
            for (Device device : claim.devices()) {
                resource.addClaimResources(ClaimResource.newBuilder()
                        .setDriverName(claim.driver())
                        .setPoolName(device.getPoolName())
                        .setDeviceName(device.getDeviceName()));
            }
            pods.computeIfAbsent(claim.pod(), PodResourcesService::describe)
                    .addContainers(
                            ContainerResources.newBuilder().setName("claiming").addDynamicResources(resource));
        }
        ListPodResourcesResponse.Builder list = ListPodResourcesResponse.newBuilder();
        pods.values().forEach(list::addPodResources);
        response.onNext(list.build());
        response.onCompleted();
    }

    @Override
    public void getAllocatableResources(
            AllocatableResourcesRequest request, StreamObserver<AllocatableResourcesResponse> response) {
        AllocatableResourcesResponse.Builder list = AllocatableResourcesResponse.newBuilder();
        devices.resources()
                .forEach((name, resource) ->
                        resource.healthy().forEach(device -> list.addDevices(describe(name, device))));
        response.onNext(list.build());
        response.onCompleted();
    }

    private static PodResources.Builder describe(PodName pod) {
        return PodResources.newBuilder().setNamespace(pod.namespace()).setName(pod.name());
    }

    private static ContainerDevices describe(
            String resource, io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device device) {
        TopologyInfo.Builder topology = TopologyInfo.newBuilder();
        device.getTopology()
                .getNodesList()
                .forEach(node -> topology.addNodes(NUMANode.newBuilder().setID(node.getID())));
        return ContainerDevices.newBuilder()
                .setResourceName(resource)
                .addDeviceIds(device.getID())
                .setTopology(topology)
                .build();
    }
}
