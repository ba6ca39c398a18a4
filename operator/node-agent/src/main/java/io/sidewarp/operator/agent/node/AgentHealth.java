// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.smallrye.health.api.Wellness;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;

/** Provides the checks that the kubelet's probes ask. */
@Dependent
final class AgentHealth {

    /** Readiness: the agent has looked at the node, and so knows its devices. */
    @Produces
    @Readiness
    @ApplicationScoped
    HealthCheck readiness(NodeAgent agent) {
        return () -> HealthCheckResponse.named("node").status(agent.hasLooked()).build();
    }

    /**
     * Wellness: the agent hears of changes of its IwarpNode. No probe asks for it: while the API server is away, a
     * restart would not help, and the last specification holds.
     */
    @Produces
    @Wellness
    @ApplicationScoped
    HealthCheck wellness(NodeAgent agent) {
        return () -> HealthCheckResponse.named("api-server-watch")
                .status(agent.isWatching())
                .build();
    }

    /**
     * Liveness: the agent still looks at the node. Otherwise the kubelet restarts the container, and pods keep their
     * devices.
     */
    @Produces
    @Liveness
    @ApplicationScoped
    HealthCheck liveness(NodeAgent agent) {
        return () -> HealthCheckResponse.named("node-agent")
                .status(agent.isRunning())
                .build();
    }
}
