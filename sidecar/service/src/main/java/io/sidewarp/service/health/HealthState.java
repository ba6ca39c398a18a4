// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.health;

import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;

/**
 * Whether the sidecar is alive, ready for traffic from the pod's outside, and usable by the application in the pod
 * ("outbound"). The application may wait for the last one without waiting for the pod, which waits for the application.
 * Thread-safe.
 */
public final class HealthState {

    /** gRPC health name of the API. */
    public static final String API = "sidewarp.v1";
    /** gRPC health name of outbound use. */
    public static final String OUTBOUND = "outbound";

    private final HealthStatusManager manager = new HealthStatusManager();
    private volatile boolean ready;
    private volatile boolean outbound;

    public HealthState() {
        ready(false);
        outbound(false);
    }

    /** The grpc.health.v1 service. */
    public BindableService service() {
        return manager.getHealthService();
    }

    /** The pod may get traffic. */
    public void ready(boolean value) {
        ready = value;
        manager.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status(value));
        manager.setStatus(API, status(value));
    }

    /** The application may use the API. */
    public void outbound(boolean value) {
        outbound = value;
        manager.setStatus(OUTBOUND, status(value));
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
