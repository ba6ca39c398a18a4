// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sidewarp.operator.testing.TestResource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the log of the packaged agent in expected situations, such as an API server that is away. */
class AgentLogIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final long STOP_SECONDS = 20;

    @TempDir
    private Path directory;

    @Test
    void anApiServerThatIsAwayIsALineEachTimeThatItIsTried() throws Exception {
        Path log = directory.resolve("agent.log");
        Process agent = start(log);
        try (TestResource _ = TestResource.of(agent)) {
            await().atMost(LIMIT)
                    .failFast(() -> !agent.isAlive())
                    .until(() -> Files.readAllLines(log).stream()
                                    .filter(line -> line.contains("event=api-server-away"))
                                    .count()
                            > 1);
            agent.destroy();
            assertThat(agent.waitFor(STOP_SECONDS, TimeUnit.SECONDS)).isTrue();

            assertThat(agent.exitValue()).isZero();
            assertThat(Files.readAllLines(log)).allMatch(line -> line.startsWith("time="));
        }
    }

    private Process start(Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-jar",
                "target/quarkus-app/quarkus-run.jar"));
        Map<String, String> environment = builder.environment();
        environment.put("KUBECONFIG", directory.resolve("none").toString());
        environment.put("KUBERNETES_MASTER", "http://127.0.0.1:" + closedPort());
        environment.put("NODE_NAME", "alone");
        environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
        environment.put("QUARKUS_HTTP_PORT", "0");
        environment.put(
                "SIDEWARP_AGENT_STATE_DIRECTORY", directory.resolve("state").toString());
        // Not that of an agent of this machine.
        environment.put("SIDEWARP_AGENT_SIW_PREFIX", "test-none-");
        environment.put(
                "SIDEWARP_AGENT_DEVICE_PLUGIN_DIRECTORY",
                directory.resolve("kubelet").toString());
        environment.put(
                "SIDEWARP_AGENT_PLUGIN_REGISTRY_DIRECTORY",
                directory.resolve("kubelet/plugins_registry").toString());
        environment.put(
                "SIDEWARP_AGENT_DRA_PLUGIN_DIRECTORY",
                directory.resolve("kubelet/plugins/rnic").toString());
        environment.put("SIDEWARP_AGENT_CDI_DIRECTORY", directory.resolve("cdi").toString());
        environment.put(
                "SIDEWARP_AGENT_POD_RESOURCES_SOCKET",
                directory.resolve("pods.sock").toString());
        return builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
