// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.junit.jupiter.api.Assumptions.abort;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A real API server and controller manager without nodes. The packaged controller and node agents run as processes,
 * with the environment, the service accounts and the permissions of the chart. A stand-in speaks the kubelet's device
 * protocols. Pods of applications do not run.
 */
final class ProcessCluster implements TestCluster {
    private static final List<String> NODES = List.of("node-a", "node-b");
    private static final String LOOPBACK = "127.0.0.1";

    private final KubeApiServer server = KubeApiServer.startWithControllerManager();
    private final Map<String, StandInKubelet> kubelets = new HashMap<>();
    private final Map<String, Integer> agentPorts = new HashMap<>();
    private final StandInService webhook;
    private final PodProcesses pods;

    ProcessCluster() {
        for (String name : NODES) {
            StandInKubelet kubelet;
            try {
                kubelet = new StandInKubelet(Directories.temporary(name)).start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            kubelets.put(name, kubelet);
            agentPorts.put(name, Ports.free());
            Node node = new NodeBuilder()
                    .withNewMetadata()
                    .withName(name)
                    .addToLabels("kubernetes.io/os", "linux")
                    .addToLabels(HOSTNAME_LABEL, name)
                    .endMetadata()
                    .build();
            client().nodes().resource(node).create();
            kubelet.reportTo(client(), name);
        }
        // Simulates an earlier use of the cluster.
        for (String name : List.of("shop", "sidewarp-system")) {
            client().namespaces()
                    .resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .endMetadata()
                            .build())
                    .create();
        }
        pods = new PodProcesses(server, NAMESPACE, NODES.getFirst(), this::program);
        webhook = new StandInService(() -> pods.readyPorts("sidewarp-controller"));
    }

    private Optional<PodProcesses.Program> program(Pod pod, Container container, Map<String, String> environment) {
        String application = switch (container.getName()) {
            case "controller", "uninstall" -> "controller";
            case "node-agent" -> "node-agent";
            default -> throw new IllegalArgumentException("nothing runs as " + container.getName());
        };
        int port =
                application.equals("node-agent") ? agentPorts.get(pod.getSpec().getNodeName()) : Ports.free();
        int webhookPort = Ports.free();
        environment.put("QUARKUS_HTTP_PORT", Integer.toString(port));
        environment.put("QUARKUS_HTTP_HOST", LOOPBACK);
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_HOST", LOOPBACK);
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_PORT", Integer.toString(webhookPort));
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_NAMES", LOOPBACK);
        environment.put("SIDEWARP_OPERATOR_IDENTITY_HOST", LOOPBACK);
        environment.put("SIDEWARP_OPERATOR_IDENTITY_PORT", "0");
        if (application.equals("node-agent")) {
            String node = pod.getSpec().getNodeName();
            StandInKubelet kubelet = kubelets.get(node);
            Path state = Directories.temporary("state-" + node);
            environment.put("SIDEWARP_AGENT_STATE_DIRECTORY", state.toString());
            environment.put(
                    "SIDEWARP_AGENT_DEVICE_PLUGIN_DIRECTORY",
                    kubelet.devicePluginDirectory().toString());
            environment.put(
                    "SIDEWARP_AGENT_POD_RESOURCES_SOCKET",
                    kubelet.podResourcesSocket().toString());
            environment.put(
                    "SIDEWARP_AGENT_PLUGIN_REGISTRY_DIRECTORY",
                    kubelet.claims().registry().toString());
            environment.put(
                    "SIDEWARP_AGENT_DRA_PLUGIN_DIRECTORY",
                    kubelet.claims().registry().resolveSibling("plugins/rnic").toString());
            environment.put("SIDEWARP_AGENT_CDI_DIRECTORY", state.resolve("cdi").toString());
        }
        List<String> command = new ArrayList<>(List.of(Programs.java()));
        command.addAll(Programs.jvmFlags());
        command.addAll(List.of(
                "-Xmx128m",
                "-jar",
                Programs.root()
                        .resolve("operator/" + application + "/target/quarkus-app/quarkus-run.jar")
                        .toString()));
        command.addAll(container.getArgs());
        Optional<URI> readiness = Optional.ofNullable(container.getReadinessProbe())
                .map(probe -> URI.create(
                        "http://" + LOOPBACK + ":" + port + probe.getHttpGet().getPath()));
        return Optional.of(new PodProcesses.Program(command, readiness, webhookPort));
    }

    /** Returns the port at which the controller signs certificates of sidecars. */
    int identityPort() {
        String line = pods.processes("sidewarp-controller")
                .getFirst()
                .awaitLine(text -> text.contains("event=identity-service-listening"));
        return Integer.parseInt(line.replaceAll(".* port=(\\d+).*", "$1"));
    }

    @Override
    public String description() {
        return "kube-apiserver " + server.version() + ", controller and node agents as processes, no kubelets";
    }

    @Override
    public KubernetesClient client() {
        return server.client();
    }

    @Override
    public Path kubeconfig() {
        return server.kubeconfig();
    }

    @Override
    public List<String> nodes() {
        return NODES;
    }

    @Override
    public Map<String, Object> chartValues() {
        return Map.of("webhook.url", "https://" + LOOPBACK + ":" + webhook.port() + "/mutate-pods");
    }

    @Override
    public String applicationImage() {
        return "example";
    }

    @Override
    public boolean runsApplications() {
        return false;
    }

    @Override
    public int pluginDevices(String node) {
        return kubelets.get(node).allocatable(SidewarpApi.RNIC_RESOURCE);
    }

    @Override
    public X509Certificate servedCertificate() {
        return ServedCertificate.at(webhook.port());
    }

    @Override
    public void withoutApiServer(Runnable action) {
        server.stopApiServer();
        try {
            action.run();
        } finally {
            server.startApiServer();
        }
    }

    @Override
    public void killContainer(String node, String id) {
        abort("no application runs in this cluster");
    }

    @Override
    public void restartKubelet(String node) {
        try {
            kubelets.get(node).restart();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        pods.close();
        webhook.close();
        kubelets.values().forEach(StandInKubelet::close);
        server.close();
    }
}
