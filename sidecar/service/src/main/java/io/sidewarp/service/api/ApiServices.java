// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.session.SessionRegistry;
import io.sidewarp.settings.SidewarpConfig;
import java.util.List;

/** Creates the services of the API. */
public final class ApiServices {

    private ApiServices() {}

    /** Returns all services: Sidewarp's own, health and reflection. */
    public static List<ServerServiceDefinition> all(
            SessionRegistry registry, SidewarpConfig config, String version, HealthState health, PeerLogs logs) {
        Calls calls = new Calls(registry, logs);
        return List.of(
                new DeviceApi(calls, config, version).bindService(),
                new MemoryApi(calls).bindService(),
                new ConnectionApi(calls).bindService(),
                new SharedReceiveQueueApi(calls).bindService(),
                new TransferApi(calls).bindService(),
                new RingApi(calls).bindService(),
                health.service().bindService(),
                ProtoReflectionServiceV1.newInstance().bindService());
    }
}
