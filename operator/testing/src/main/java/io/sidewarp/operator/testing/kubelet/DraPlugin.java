// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.kubelet.dra.v1.DRAPluginGrpc;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.DRAResourceHealthGrpc;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.DeviceHealth;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.NodeWatchResourcesRequest;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.NodeWatchResourcesResponse;
import io.sidewarp.operator.kubelet.pluginregistration.v1.PluginInfo;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Connection to a registered driver, with the health that the driver tells. */
final class DraPlugin implements AutoCloseable {

    /** Deadline of calls, as in a kubelet. */
    private static final long DEADLINE_SECONDS = 45;

    private final PluginInfo info;
    private final ManagedChannel channel;
    private final Map<String, DeviceHealth> health = new ConcurrentHashMap<>();

    DraPlugin(PluginInfo info, ManagedChannel channel) {
        this.info = info;
        this.channel = channel;
    }

    String driver() {
        return info.getName();
    }

    DRAPluginGrpc.DRAPluginBlockingStub stub() {
        return DRAPluginGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    /** Calls NodeWatchResources. The health is forgotten when the stream ends. */
    void watchHealth() {
        DRAResourceHealthGrpc.newStub(channel)
                .nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance(), new StreamObserver<>() {
                    @Override
                    public void onNext(NodeWatchResourcesResponse response) {
                        response.getDevicesList()
                                .forEach(device -> health.put(device.getDevice().getDeviceName(), device));
                    }

                    @Override
                    public void onError(Throwable failure) {
                        health.clear();
                    }

                    @Override
                    public void onCompleted() {
                        health.clear();
                    }
                });
    }

    /** Returns the last health of each device, by the device's name. */
    Map<String, DeviceHealth> health() {
        return Map.copyOf(health);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
