// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.kubelet.DraApi;
import io.sidewarp.operator.kubelet.pluginregistration.v1.InfoRequest;
import io.sidewarp.operator.kubelet.pluginregistration.v1.PluginInfo;
import io.sidewarp.operator.kubelet.pluginregistration.v1.RegistrationGrpc;
import io.sidewarp.operator.kubelet.pluginregistration.v1.RegistrationStatus;
import io.sidewarp.operator.kubelet.pluginregistration.v1.RegistrationStatusResponse;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Tells the kubelet, which has found the socket, about the driver. */
final class DraRegistration extends RegistrationGrpc.RegistrationImplBase {

    private final PluginInfo info;
    private final Consumer<RegistrationStatus> outcome;

    /**
     * Makes a registration.
     *
     * @param endpoint socket of the driver
     * @param outcome called with each answer of the kubelet
     */
    DraRegistration(Path endpoint, Consumer<RegistrationStatus> outcome) {
        this.outcome = outcome;
        info = PluginInfo.newBuilder()
                .setType(DraApi.PLUGIN_TYPE)
                .setName(SidewarpApi.RNIC_DRIVER)
                .setEndpoint(endpoint.toAbsolutePath().toString())
                .addSupportedVersions(DraApi.DRA_SERVICE)
                .addSupportedVersions(DraApi.HEALTH_SERVICE)
                .build();
    }

    @Override
    public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
        response.onNext(info);
        response.onCompleted();
    }

    @Override
    public void notifyRegistrationStatus(
            RegistrationStatus status, StreamObserver<RegistrationStatusResponse> response) {
        outcome.accept(status);
        response.onNext(RegistrationStatusResponse.getDefaultInstance());
        response.onCompleted();
    }
}
