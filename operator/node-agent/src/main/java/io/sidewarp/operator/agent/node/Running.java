// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/**
 * Liveness: the agent still looks at the node. Otherwise the kubelet restarts the container, and pods keep their
 * devices.
 */
@Liveness
@ApplicationScoped
public class Running implements HealthCheck {
    private final NodeAgent agent;

    public Running(NodeAgent agent) {
        this.agent = agent;
    }

    @Override
    public HealthCheckResponse call() {
        return HealthCheckResponse.named("node-agent").status(agent.isRunning()).build();
    }
}
