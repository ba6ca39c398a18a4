// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.events.EventRecorder;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Provides the recorder by which reconcilers report transitions in the controller's name. */
@Dependent
final class Events {
    @Produces
    @Singleton
    EventRecorder recorder(KubernetesClient client) {
        return new EventRecorder(client, "sidewarp-controller");
    }
}
