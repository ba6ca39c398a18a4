// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.sidewarp.operator.controller.webhook.WebhookServer;
import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Reports ready when this replica can answer admission calls, whether or not it is the leader. */
@Readiness
@ApplicationScoped
public class ControllerHealth implements HealthCheck {
    private final WebhookServer webhook;

    public ControllerHealth(WebhookServer webhook) {
        this.webhook = webhook;
    }

    @Override
    public HealthCheckResponse call() {
        return HealthCheckResponse.named("webhook").status(webhook.isReady()).build();
    }
}
