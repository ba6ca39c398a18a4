// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.client;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.vertx.core.Vertx;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import java.time.Duration;

/** Provides the client of the API server in place of the client of Quarkus, which waits for lost watches. */
@Dependent
final class ApiServerClient {
    /** Three intervals of bookmarks. A slow API server may miss two of them. */
    private static final Duration READ_TIMEOUT = Duration.ofMinutes(3);

    @Produces
    @ApplicationScoped
    KubernetesClient client(Config config, KubernetesSerialization serialization, Vertx vertx) {
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withKubernetesSerialization(serialization)
                .withHttpClientFactory(new ReadTimeoutClientFactory(vertx, READ_TIMEOUT))
                .build();
    }

    void close(@Disposes KubernetesClient client) {
        client.close();
    }
}
