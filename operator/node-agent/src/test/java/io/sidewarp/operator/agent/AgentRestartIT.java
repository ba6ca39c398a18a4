// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_DRIVER;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestResource;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what pods find while the packaged agent is replaced. Prints how long the device plugin is away. */
@RealApiServer
class AgentRestartIT {
    private static final int DEVICES = 8;
    private static final int RESTARTS = 5;
    private static final String NODE = "restarted";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration POLL = Duration.ofMillis(5);

    @TempDir
    private Path directory;

    @Test
    void theNextAgentOffersTheSameDevicesByBothMechanisms(KubeApiServer server) throws Exception {
        KubernetesClient client = server.client();
        DraDefinitions.install(client, true);
        CustomResourceDefinitions.install(
                client,
                Objects.requireNonNull(
                        AgentRestartIT.class.getResource("/META-INF/fabric8/iwarpnodes.sidewarp.io-v1.yml")));
        client.resource(Serialization.unmarshal(
                        "---\n{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + NODE
                                + "}, spec: {fallback: [Software], software: {devices: " + DEVICES + "}}}",
                        IwarpNode.class))
                .create();
        try (StandInKubelet kubelet = new StandInKubelet(directory.resolve("kubelet")).start()) {
            Process agent = AgentProcess.start(server, kubelet, directory, NODE, "agent-restart.log");
            TestResource remains = TestResource.of(agent);
            try {
                awaitAllocatable(kubelet, DEVICES);
                for (int i = 1; i <= RESTARTS; i++) {
                    AgentProcess.stop(agent);
                    remains.forget();
                    awaitAllocatable(kubelet, 0);
                    long away = System.nanoTime();
                    agent = AgentProcess.start(server, kubelet, directory, NODE, "agent-restart.log");
                    remains = TestResource.of(agent);
                    awaitAllocatable(kubelet, DEVICES);
                    System.out.printf(
                            "restart %d of the node agent: devices allocatable %d ms after the start of the process%n",
                            i, Duration.ofNanos(System.nanoTime() - away).toMillis());
                }

                client.resources(IwarpNode.class)
                        .withName(NODE)
                        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"resourceClaims\":true}}");
                await().atMost(LIMIT)
                        .until(() -> slice(client) != null && kubelet.claims().isRegistered(RNIC_DRIVER));
                String before = slice(client).getMetadata().getUid();
                AgentProcess.stop(agent);
                remains.forget();
                await().atMost(LIMIT).until(() -> !kubelet.claims().isRegistered(RNIC_DRIVER));
                agent = AgentProcess.start(server, kubelet, directory, NODE, "agent-restart.log");
                remains = TestResource.of(agent);
                await().atMost(LIMIT).until(() -> kubelet.claims().isRegistered(RNIC_DRIVER));

                assertThat(slice(client).getMetadata().getUid()).isEqualTo(before);
            } finally {
                AgentProcess.stop(agent);
                remains.forget();
            }
        } finally {
            client.resources(IwarpNode.class).withName(NODE).delete();
            client.resources(ResourceSlice.class).withName(NODE + "-rnic-0").delete();
        }
    }

    private static ResourceSlice slice(KubernetesClient client) {
        return client.resources(ResourceSlice.class).withName(NODE + "-rnic-0").get();
    }

    private static void awaitAllocatable(StandInKubelet kubelet, int devices) {
        await().atMost(LIMIT).pollInterval(POLL).until(() -> kubelet.allocatable(RNIC_RESOURCE) == devices);
    }
}
