// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestResource;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the memory of the packaged agent at a real API server and a stand-in for the kubelet. The memory limit and
 * the JVM options are the defaults of its container. Prints figures.
 */
@RealApiServer
class AgentMemoryIT {
    private static final int CHANGES = 200;
    private static final int DEVICES = 256;
    private static final String NODE = "measured";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration POLL = Duration.ofMillis(20);

    @TempDir
    private Path directory;

    @Test
    void fitsIntoTheLimitOfItsContainer(KubeApiServer server) throws Exception {
        KubernetesClient client = server.client();
        CustomResourceDefinitions.install(
                client,
                Objects.requireNonNull(
                        AgentMemoryIT.class.getResource("/META-INF/fabric8/iwarpnodes.sidewarp.io-v1.yml")));
        client.resource(Serialization.unmarshal(
                        "---\n{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + NODE
                                + "}, spec: {fallback: [Software], software: {devices: " + DEVICES + "}}}",
                        IwarpNode.class))
                .create();
        try (StandInKubelet kubelet = new StandInKubelet(directory.resolve("kubelet")).start()) {
            Process agent = AgentProcess.start(server, kubelet, directory, NODE, "agent-memory.log");
            TestResource remains = TestResource.of(agent);
            try {
                awaitDevices(client, kubelet, agent, DEVICES);
                long idle = mebibytes(agent, "VmRSS");
                for (int i = 1; i <= CHANGES; i++) {
                    int devices = DEVICES - i % 2;
                    client.resources(IwarpNode.class)
                            .withName(NODE)
                            .patch(
                                    PatchContext.of(PatchType.JSON_MERGE),
                                    "{\"spec\":{\"software\":{\"devices\":" + devices + "}}}");
                    awaitDevices(client, kubelet, agent, devices);
                }
                long most = mebibytes(agent, "VmHWM");
                System.out.printf(
                        "memory of the node agent: resident %d MiB when its devices are known, %d MiB after %d changes,"
                                + " most %d MiB, of %d MiB%n",
                        idle, mebibytes(agent, "VmRSS"), CHANGES, most, AgentProcess.MEMORY_LIMIT_MEBIBYTES);

                assertThat(most).isLessThan(AgentProcess.MEMORY_LIMIT_MEBIBYTES);
            } finally {
                AgentProcess.stop(agent);
                remains.forget();
            }
        } finally {
            client.resources(IwarpNode.class).withName(NODE).delete();
        }
    }

    private static void awaitDevices(KubernetesClient client, StandInKubelet kubelet, Process agent, int devices) {
        await().atMost(LIMIT)
                .pollInterval(POLL)
                .failFast("the agent has ended, see target/agent-memory.log", () -> !agent.isAlive())
                .until(() -> kubelet.allocatable(RNIC_RESOURCE) == devices && isDone(client, devices));
    }

    private static boolean isDone(KubernetesClient client, int devices) {
        IwarpNode node = client.resources(IwarpNode.class).withName(NODE).get();
        return node.getStatus() != null
                && node.getMetadata().getGeneration().equals(node.getStatus().observedGeneration())
                && node.getStatus().devices() == devices;
    }

    private static long mebibytes(Process process, String what) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith(what + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024)
                .findFirst()
                .orElseThrow();
    }
}
