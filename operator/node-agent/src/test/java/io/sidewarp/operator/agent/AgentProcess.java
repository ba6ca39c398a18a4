// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent;

import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The packaged agent as a process, with the memory limit and the JVM options of its container. */
final class AgentProcess {

    /** Limit of the chart ({@code nodeAgent.resources}). The image takes a part of the limit for the heap. */
    static final int MEMORY_LIMIT_MEBIBYTES = 256;

    /** As in the image. */
    private static final List<String> FLAGS = List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:MaxRAM=" + MEMORY_LIMIT_MEBIBYTES + "m",
            "-XX:MaxRAMPercentage=40",
            "-XX:ActiveProcessorCount=2",
            "-XX:TieredStopAtLevel=1",
            "-XX:TrimNativeHeapInterval=10000");

    private static final long STOP_SECONDS = 20;

    private AgentProcess() {}

    /**
     * Starts the agent of a node.
     *
     * @param directory directory of the test, with the kubelet in {@code kubelet}
     * @param log name of the file in {@code target} for the output
     */
    static Process start(KubeApiServer server, StandInKubelet kubelet, Path directory, String node, String log)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.addAll(FLAGS);
        command.addAll(List.of("-jar", "target/quarkus-app/quarkus-run.jar"));
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> environment = builder.environment();
        environment.put("MALLOC_ARENA_MAX", "2");
        environment.put("KUBECONFIG", server.kubeconfig().toString());
        environment.put("NODE_NAME", node);
        environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
        environment.put("QUARKUS_HTTP_PORT", "0");
        environment.put(
                "SIDEWARP_AGENT_STATE_DIRECTORY", directory.resolve("state").toString());
        // Not that of an agent of this machine.
        environment.put("SIDEWARP_AGENT_SIW_PREFIX", "test-none-");
        environment.put(
                "SIDEWARP_AGENT_DEVICE_PLUGIN_DIRECTORY",
                kubelet.devicePluginDirectory().toString());
        environment.put(
                "SIDEWARP_AGENT_PLUGIN_REGISTRY_DIRECTORY",
                kubelet.claims().registry().toString());
        environment.put(
                "SIDEWARP_AGENT_DRA_PLUGIN_DIRECTORY",
                directory.resolve("kubelet/plugins/rnic").toString());
        environment.put("SIDEWARP_AGENT_CDI_DIRECTORY", directory.resolve("cdi").toString());
        environment.put(
                "SIDEWARP_AGENT_POD_RESOURCES_SOCKET",
                kubelet.podResourcesSocket().toString());
        return builder.redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(Path.of("target", log).toFile()))
                .start();
    }

    /** Ends the agent as a kubelet does. */
    static void stop(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
