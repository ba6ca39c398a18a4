// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.DeviceName;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.DRAResourceHealthGrpc;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.DeviceHealth;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.DeviceIdentifier;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.HealthStatus;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.NodeWatchResourcesRequest;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.NodeWatchResourcesResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tells the kubelet the health of all devices, at once, at each change, and from time to time. The kubelet writes the
 * health of a pod's devices into the status of the pod.
 */
final class HealthService extends DRAResourceHealthGrpc.DRAResourceHealthImplBase {

    /** Interval between two reports without a change. */
    static final Duration INTERVAL = Duration.ofSeconds(15);

    private final String node;
    private final DeviceInventory devices;
    private final Set<ServerCallStreamObserver<NodeWatchResourcesResponse>> streams = ConcurrentHashMap.newKeySet();

    HealthService(String node, DeviceInventory devices) {
        this.node = node;
        this.devices = devices;
    }

    @Override
    public void nodeWatchResources(
            NodeWatchResourcesRequest request, StreamObserver<NodeWatchResourcesResponse> response) {
        ServerCallStreamObserver<NodeWatchResourcesResponse> kubelet =
                (ServerCallStreamObserver<NodeWatchResourcesResponse>) response;
        kubelet.setOnCancelHandler(() -> streams.remove(kubelet));
        streams.add(kubelet);
        kubelet.setOnReadyHandler(this::send);
        send();
    }

    /** Sends the present health to all kubelets that read. */
    synchronized void send() {
        if (devices.devices().isEmpty()) {
            return;
        }
        NodeWatchResourcesResponse report = report();
        for (ServerCallStreamObserver<NodeWatchResourcesResponse> kubelet : streams) {
            if (kubelet.isReady()) {
                kubelet.onNext(report);
            }
        }
    }

    /** Ends all streams. */
    synchronized void complete() {
        streams.forEach(ServerCallStreamObserver::onCompleted);
        streams.clear();
    }

    private NodeWatchResourcesResponse report() {
        long now = Instant.now().getEpochSecond();
        Map<String, DeviceHealth> all = new LinkedHashMap<>();
        for (RnicDevice device : devices.devices().orElseThrow()) {
            all.put(DeviceName.of(device), health(DeviceName.of(device), device, now));
            // All shares of a kind have the same health.
            DeviceName.ofGroup(device).ifPresent(name -> all.put(name, health(name, device, now)));
        }
        return NodeWatchResourcesResponse.newBuilder()
                .addAllDevices(all.values())
                .build();
    }

    private DeviceHealth health(String name, RnicDevice device, long now) {
        return DeviceHealth.newBuilder()
                .setDevice(DeviceIdentifier.newBuilder().setPoolName(node).setDeviceName(name))
                .setHealth(device.healthy() ? HealthStatus.HEALTHY : HealthStatus.UNHEALTHY)
                .setMessage(device.fault().orElse(""))
                .setLastUpdatedTime(now)
                .setHealthCheckTimeoutSeconds(3 * INTERVAL.toSeconds())
                .build();
    }
}
