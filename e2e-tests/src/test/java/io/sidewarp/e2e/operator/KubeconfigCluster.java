// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.LocalPortForward;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The cluster of {@code KUBECONFIG}, in which Sidewarp is not installed yet. Its nodes have the images or can pull
 * them. The environment variable {@code SIDEWARP_E2E_VALUES} may hold values for the chart, separated by commas, such
 * as {@code image.registry=registry.example.com}. {@code SIDEWARP_E2E_NODE_PROGRAM} may name a program that acts on nodes
 * (see docs/cluster.md).
 */
final class KubeconfigCluster implements TestCluster {
    private static final String KUBECONFIG = "KUBECONFIG";
    private static final String VALUES = "SIDEWARP_E2E_VALUES";
    private static final String NODE_PROGRAM = "SIDEWARP_E2E_NODE_PROGRAM";
    private static final int WEBHOOK_PORT = 9443;

    private final Path kubeconfig = Path.of(System.getenv(KUBECONFIG).split(File.pathSeparator, 2)[0]);
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(Config.fromKubeconfig(kubeconfig.toFile()))
            .build();
    private final List<String> nodes;

    KubeconfigCluster() {
        boolean installed = client.apiextensions().v1().customResourceDefinitions().list().getItems().stream()
                .anyMatch(definition -> definition.getMetadata().getName().endsWith(".sidewarp.io"));
        assertThat(installed)
                .as("the cluster of KUBECONFIG has Sidewarp already, which the tests would remove; uninstall it"
                        + " first, or unset KUBECONFIG")
                .isFalse();
        nodes = client.nodes().list().getItems().stream()
                .filter(KubeconfigCluster::isReady)
                .map(node -> node.getMetadata().getName())
                .sorted()
                .toList();
        assertThat(nodes).as("nodes that are ready").isNotEmpty();
    }

    static boolean isAtHand() {
        return Optional.ofNullable(System.getenv(KUBECONFIG))
                .filter(value -> !value.isBlank())
                .isPresent();
    }

    private static boolean isReady(Node node) {
        return node.getStatus().getConditions().stream()
                .anyMatch(condition -> condition.getType().equals("Ready")
                        && condition.getStatus().equals("True"));
    }

    @Override
    public String description() {
        return "Kubernetes " + client.getKubernetesVersion().getGitVersion() + ", " + nodes.size() + " node"
                + (nodes.size() == 1 ? "" : "s") + ", "
                + client.nodes()
                        .withName(nodes.getFirst())
                        .get()
                        .getStatus()
                        .getNodeInfo()
                        .getContainerRuntimeVersion();
    }

    @Override
    public KubernetesClient client() {
        return client;
    }

    @Override
    public Path kubeconfig() {
        return kubeconfig;
    }

    @Override
    public List<String> nodes() {
        return nodes;
    }

    @Override
    public Map<String, Object> chartValues() {
        Map<String, Object> values = new LinkedHashMap<>();
        for (String value :
                Optional.ofNullable(System.getenv(VALUES)).orElse("").split(",", -1)) {
            if (!value.isBlank()) {
                String[] parts = value.split("=", 2);
                assertThat(parts).as(VALUES + " has NAME=VALUE,...").hasSize(2);
                values.put(parts[0].strip(), parts[1]);
            }
        }
        return values;
    }

    @Override
    public String applicationImage() {
        String registry = String.valueOf(chartValues().getOrDefault("image.registry", ""));
        return (registry.isEmpty() ? "" : registry + "/") + "sidewarp/sidecar:"
                + chartValues().getOrDefault("sidecar.image.tag", chartVersion());
    }

    private static String chartVersion() {
        try {
            String chart = Files.readString(Programs.root().resolve("helm/sidewarp/Chart.yaml"));
            Matcher version = Pattern.compile("(?m)^appVersion: \"?([^\"\\s]+)").matcher(chart);
            assertThat(version.find()).isTrue();
            return version.group(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean runsApplications() {
        return true;
    }

    @Override
    public int pluginDevices(String node) {
        Quantity quantity =
                client.nodes().withName(node).get().getStatus().getAllocatable().get(SidewarpApi.RNIC_RESOURCE);
        return quantity == null ? 0 : quantity.getNumericalAmount().intValue();
    }

    @Override
    public X509Certificate servedCertificate() {
        Pod controller = client.pods()
                .inNamespace(NAMESPACE)
                .withLabel("app.kubernetes.io/component", "controller")
                .list()
                .getItems()
                .getFirst();
        try (LocalPortForward forward = client.pods().resource(controller).portForward(WEBHOOK_PORT)) {
            return ServedCertificate.at(forward.getLocalPort());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void withoutApiServer(Runnable action) {
        abort("this cluster's API server is not for tests to stop");
    }

    @Override
    public void killContainer(String node, String id) {
        onNode(node, "kill", id.replaceFirst(".*://", ""));
    }

    @Override
    public void restartKubelet(String node) {
        onNode(node, "restart-kubelet");
    }

    private static void onNode(String node, String... action) {
        String program = Optional.ofNullable(System.getenv(NODE_PROGRAM)).orElse("");
        if (program.isBlank()) {
            abort(NODE_PROGRAM + " names no program that acts on nodes; see docs/cluster.md");
        }
        List<String> command =
                Stream.concat(Stream.of(program, node), Stream.of(action)).toList();
        String name = action[0] + "-" + node;
        try (OwnedProcess process = OwnedProcess.start(name, command, Map.of(), Programs.output())) {
            assertThat(process.awaitExit(Patience.LONG_LIMIT)).as("%s", command).isZero();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
