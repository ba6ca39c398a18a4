// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import io.vertx.core.Vertx;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@RealApiServer
class ReadTimeoutClientFactoryTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Vertx vertx = Vertx.vertx();
    private KubernetesClient direct;
    private String namespace;

    @BeforeEach
    void start(KubernetesClient client, TestNamespaces namespaces) {
        direct = client;
        namespace = namespaces.create();
    }

    @AfterEach
    void stop() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void anInformerSeesAChangeAfterARouterHasDroppedItsConnection(KubeApiServer server) throws Exception {
        write("before");
        try (DroppingRouter router = DroppingRouter.to(direct.getMasterUrl().getPort());
                KubernetesClient client = client(server, router);
                SharedIndexInformer<ConfigMap> informer =
                        client.configMaps().inNamespace(namespace).inform()) {
            await().atMost(LIMIT).until(() -> isKnown(informer, "before"));

            router.forgetConnections();
            write("after");

            await().atMost(LIMIT).until(() -> isKnown(informer, "after"));
            await().atMost(LIMIT).until(informer::isWatching);
        }
    }

    @Test
    void aRequestIsAnsweredAfterTheTimeoutHasPassedWithoutOne(KubeApiServer server) throws Exception {
        write("known");
        try (DroppingRouter router = DroppingRouter.to(direct.getMasterUrl().getPort());
                KubernetesClient client = client(server, router)) {
            assertThat(client.configMaps().inNamespace(namespace).list().getItems())
                    .isNotEmpty();
            long idleSince = System.nanoTime();
            await().atMost(LIMIT)
                    .until(() -> System.nanoTime() - idleSince
                            > TIMEOUT.multipliedBy(2).toNanos());

            assertThat(client.configMaps().inNamespace(namespace).list().getItems())
                    .isNotEmpty();
        }
    }

    private KubernetesClient client(KubeApiServer server, DroppingRouter router) throws Exception {
        Config config = new ConfigBuilder(
                        Config.fromKubeconfig(server.kubeconfig().toFile()))
                .withMasterUrl(router.url())
                // The certificate is made out to the loopback interface.
                .withTrustCerts(true)
                .build();
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new ReadTimeoutClientFactory(vertx, TIMEOUT))
                .build();
    }

    private void write(String name) {
        direct.resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(namespace)
                        .endMetadata()
                        .build())
                .create();
    }

    private boolean isKnown(SharedIndexInformer<ConfigMap> informer, String name) {
        return informer.getStore().getByKey(namespace + "/" + name) != null;
    }
}
