// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

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
