// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MonitoringTest {

    private static final Pattern METRIC = Pattern.compile("\\bsidewarp_[a-z_]+");
    private static final String[] ALL = {
        "monitoring.podMonitor.enabled=true", "monitoring.rules.enabled=true", "monitoring.dashboard.enabled=true"
    };

    @TempDir
    Path scratch;

    @ParameterizedTest
    @ValueSource(strings = {"files/rules.yaml", "files/dashboard.json"})
    void namesMetricsThatThereAre(String file) throws IOException {
        Set<String> documented = new TreeSet<>(metricsIn(Chart.root().resolve("docs/telemetry.md")));
        documented.addAll(metricsIn(Chart.root().resolve("operator/README.md")));
        Set<String> used = metricsIn(Chart.directory().resolve(file)).stream()
                .map(name -> name.replaceFirst("_(bucket|sum|count)$", ""))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(used).isNotEmpty();
        assertThat(documented).containsAll(used);
    }

    @Test
    void promtoolAcceptsTheRules() throws IOException, InterruptedException {
        promtool("check", Chart.directory().resolve("files/rules.yaml"));
    }

    @Test
    void alertsTellTheFirstErrorAndNothingElse() throws IOException, InterruptedException {
        promtool("test", Chart.root().resolve("helm/src/test/resources/alerts.yaml"));
    }

    @Test
    void rulesAndDashboardArriveAsTheyAreWritten() throws IOException {
        String rendered = Chart.render(Chart.RECENT, ALL);
        GenericKubernetesResource rule = Chart.find(rendered, GenericKubernetesResource.class, "sidewarp");
        Map<String, Object> written =
                Chart.data(Files.readString(Chart.directory().resolve("files/rules.yaml")));
        assertThat(rule.getAdditionalProperties().get("spec")).isEqualTo(written);
        ConfigMap dashboard = Chart.find(rendered, ConfigMap.class, "sidewarp-dashboard");
        assertThat(dashboard.getData().get("sidewarp.json"))
                .isEqualToIgnoringWhitespace(Files.readString(Chart.directory().resolve("files/dashboard.json")));
        assertThat(dashboard.getMetadata().getLabels()).containsEntry("grafana_dashboard", "1");
    }

    @Test
    void monitorsNothingUnlessAsked() {
        assertThat(Chart.names(Chart.render(Chart.RECENT))).doesNotContainKeys("PodMonitor", "PrometheusRule");
        assertThat(Chart.names(Chart.render(Chart.RECENT, ALL)).get("PodMonitor"))
                .containsExactlyInAnyOrder("sidewarp-controller", "sidewarp-node-agent", "sidewarp-sidecars");
    }

    private static Set<String> metricsIn(Path file) throws IOException {
        return METRIC.matcher(Files.readString(file))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Runs promtool on rules, and fails with its output. */
    private void promtool(String what, Path rules) throws IOException, InterruptedException {
        Optional<Path> promtool = promtool();
        assumeTrue(promtool.isPresent(), "promtool is not on the PATH (Debian and Ubuntu: apt-get install prometheus)");
        Path output = scratch.resolve("promtool.txt");
        Process process = new ProcessBuilder(promtool.get().toString(), what, "rules", rules.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(60, TimeUnit.SECONDS);
        process.destroyForcibly();
        assertThat(ended).isTrue();
        assertThat(process.exitValue())
                .as(Files.readString(output, StandardCharsets.UTF_8))
                .isZero();
    }

    private static Optional<Path> promtool() {
        return Stream.of(Optional.ofNullable(System.getenv("PATH")).orElse("").split(File.pathSeparator))
                .map(directory -> Path.of(directory, "promtool"))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
