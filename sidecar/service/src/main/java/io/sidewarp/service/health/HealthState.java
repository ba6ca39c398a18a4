// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.health;

import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Health of the sidecar: alive, ready for traffic from outside the pod, and usable by the application in the pod
 * ("outbound"). The application can wait for the outbound state. It must not wait for the ready state, because a pod
 * becomes ready only with its application. Thread-safe.
 */
public final class HealthState {

    /** gRPC health name of the API. */
    public static final String API = "sidewarp.v1";
    /** gRPC health name of outbound use. */
    public static final String OUTBOUND = "outbound";

    private final HealthStatusManager manager = new HealthStatusManager();
    private volatile boolean ready;
    private volatile boolean outbound;
    private volatile Supplier<Optional<String>> problem = Optional::empty;

    public HealthState() {
        ready(false);
        outbound(false);
    }

    /** Returns the grpc.health.v1 service. */
    public BindableService service() {
        return manager.getHealthService();
    }

    /** Sets whether the pod may get traffic. */
    public void ready(boolean value) {
        ready = value;
        manager.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status(value));
        manager.setStatus(API, status(value));
    }

    /** Sets whether the application may use the API. */
    public void outbound(boolean value) {
        outbound = value;
        manager.setStatus(OUTBOUND, status(value));
    }

    /** Sets where to ask for what keeps the sidecar from being ready, or soon will. */
    public void problem(Supplier<Optional<String>> source) {
        problem = source;
    }

    /** Returns what is wrong, and what to do. */
    public Optional<String> problem() {
        return problem.get();
    }

    public boolean isReady() {
        return ready;
    }

    public boolean isOutbound() {
        return outbound;
    }

    private static ServingStatus status(boolean serving) {
        return serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    }
}
