// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.kubelet.DevicePluginApi;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Empty;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.RegisterRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.RegistrationGrpc;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Receives registrations, and checks them as a kubelet does. */
final class RegistrationService extends RegistrationGrpc.RegistrationImplBase {

    private final Consumer<RegisterRequest> accepted;
    private final AtomicInteger calls = new AtomicInteger();
    private volatile RegistrationAnswer answer = RegistrationAnswer.ACCEPT;

    /**
     * Makes a service that accepts all valid registrations.
     *
     * @param accepted called after the plugin has received its answer
     */
    RegistrationService(Consumer<RegisterRequest> accepted) {
        this.accepted = accepted;
    }

    void answer(RegistrationAnswer answer) {
        this.answer = answer;
    }

    /** Returns the number of calls, whatever their outcome. */
    int calls() {
        return calls.get();
    }

    @Override
    public void register(RegisterRequest request, StreamObserver<Empty> response) {
        calls.incrementAndGet();
        RegistrationAnswer now = answer;
        if (now == RegistrationAnswer.NONE) {
            return;
        }
        String objection = now == RegistrationAnswer.REFUSE ? "told to refuse" : objection(request);
        if (!objection.isEmpty()) {
            response.onError(Status.UNKNOWN.withDescription(objection).asRuntimeException());
            return;
        }
        response.onNext(Empty.getDefaultInstance());
        response.onCompleted();
        if (now == RegistrationAnswer.ACCEPT) {
            // A call in the context of this call would end with it.
            Context.ROOT.run(() -> accepted.accept(request));
        }
    }

    private static String objection(RegisterRequest request) {
        if (!request.getVersion().equals(DevicePluginApi.VERSION)) {
            return "requested API version \"%s\" is not supported by kubelet. Supported version is \"%s\""
                    .formatted(request.getVersion(), DevicePluginApi.VERSION);
        }
        if (!request.getResourceName().matches("[a-z0-9.-]+/[A-Za-z0-9._-]+")
                || request.getResourceName().startsWith("kubernetes.io/")) {
            return "the ResourceName \"%s\" is invalid".formatted(request.getResourceName());
        }
        if (request.getEndpoint().isEmpty() || request.getEndpoint().contains("/")) {
            return "the endpoint \"%s\" is no file name".formatted(request.getEndpoint());
        }
        return "";
    }
}
