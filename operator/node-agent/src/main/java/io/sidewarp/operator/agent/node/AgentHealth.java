// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Readiness: the agent has looked at the node, and so knows its devices. */
@Readiness
@ApplicationScoped
public class AgentHealth implements HealthCheck {
    private final NodeAgent agent;

    public AgentHealth(NodeAgent agent) {
        this.agent = agent;
    }

    @Override
    public HealthCheckResponse call() {
        return HealthCheckResponse.named("node").status(agent.hasLooked()).build();
    }
}
