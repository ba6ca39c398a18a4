// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that derived files in the repository match their sources. {@code -Dmanifests.write=true} writes the files
 * instead.
 */
class ManifestsTest {

    private static final boolean WRITE = Boolean.getBoolean("manifests.write");

    @ParameterizedTest
    @ValueSource(strings = {"iwarpnicpolicies", "iwarpnodes", "sidecarprofiles"})
    void chartHasTheDefinitionsOfTheOperator(String plural) throws IOException {
        String resource = "/META-INF/fabric8/" + plural + ".sidewarp.io-v1.yml";
        try (InputStream generated = Objects.requireNonNull(ManifestsTest.class.getResourceAsStream(resource))) {
            compare(
                    Chart.directory().resolve("files/crds/" + plural + ".yaml"),
                    new String(generated.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void installIsTheChartWithDefaultValues() throws IOException {
        compare(
                "install.yaml",
                "All that the chart installs, for Kubernetes 1.30 and later: kubectl apply -f install.yaml.",
                Chart.render(Chart.RECENT, "createNamespace=true"),
                _ -> true);
    }

    /** The README of the repository says so, for users without Helm. */
    @Test
    void oneSubstitutionGivesTheImagesOfARegistry() throws IOException {
        Path install = Chart.root().resolve("manifests/install.yaml");
        assertThat(Chart.root().resolve("README.md"))
                .content()
                .contains("sed 's|\"sidewarp/|\"registry.example/team/sidewarp/|' manifests/install.yaml");

        assertThat(Chart.objects(Files.readString(install).replace("\"sidewarp/", "\"registry.example/team/sidewarp/")))
                .isEqualTo(Chart.objects(
                        Chart.render(Chart.RECENT, "createNamespace=true", "image.registry=registry.example/team")));
    }

    @Test
    void uninstallIsTheChartsCleanUp(@TempDir Path scratch) throws IOException {
        compare(
                "uninstall.yaml",
                "Create this and wait until it is complete; then: kubectl delete --ignore-not-found -f install.yaml.",
                Chart.renderCleanUp(Chart.RECENT, scratch),
                _ -> true);
    }

    @Test
    void resourceClaimsAreThoseOfTheChart() throws IOException {
        List<String> names = Chart.objects(Chart.render(Chart.RECENT)).stream()
                .map(ManifestsTest::id)
                .toList();
        compare(
                "resource-claims.yaml",
                "For Kubernetes 1.34 and later: nodes offer their devices to ResourceClaims.",
                Chart.render(Chart.WITH_CLAIMS),
                object -> !names.contains(id(object)));
    }

    @Test
    void monitoringIsTheChartsMonitoring() throws IOException {
        String without = Chart.render(Chart.RECENT);
        List<String> names =
                Chart.objects(without).stream().map(ManifestsTest::id).toList();
        compare(
                "monitoring.yaml",
                "For the Prometheus operator and Grafana.",
                Chart.render(
                        Chart.RECENT,
                        "monitoring.podMonitor.enabled=true",
                        "monitoring.rules.enabled=true",
                        "monitoring.dashboard.enabled=true"),
                object -> !names.contains(id(object)));
    }

    /**
     * The sidecar does not use a device without an interface, and such a device is lost to users of verbs on the node.
     */
    @Test
    void exampleProfilesAskForNoDeviceThatTheSidecarDoesNotUse() throws IOException {
        List<Map<?, ?>> profiles = new ArrayList<>();
        try (Stream<Path> examples = Files.list(Chart.root().resolve("manifests/examples"))) {
            for (Path example : (Iterable<Path>) examples::iterator) {
                Chart.documents(Files.readString(example)).stream()
                        .filter(document -> Chart.parse(document).getKind().equals("SidecarProfile"))
                        .forEach(document ->
                                profiles.add((Map<?, ?>) Chart.data(document).get("spec")));
            }
        }

        assertThat(profiles)
                .isNotEmpty()
                .allMatch(profile -> !profile.containsKey("rnics") || profile.containsKey("nicPolicy"));
    }

    @Test
    void podsOfExamplesHaveSidecarsAndRunTheirPrograms() throws IOException {
        List<Path> manifests = Chart.examplePods();
        assertThat(manifests).hasSizeGreaterThanOrEqualTo(5);
        for (Path manifest : manifests) {
            List<HasMetadata> objects = Chart.objects(Files.readString(manifest));
            List<PodTemplateSpec> pods =
                    objects.stream().flatMap(ManifestsTest::pods).toList();

            assertThat(pods).as(manifest.toString()).isNotEmpty().allSatisfy(pod -> {
                Container container = pod.getSpec().getContainers().getFirst();
                assertThat(pod.getMetadata().getAnnotations()).containsEntry("sidewarp.io/inject", "enabled");
                assertThat(Chart.root().resolve(dockerfile(container.getImage())))
                        .exists();
                assertThat(container.getCommand())
                        .filteredOn(word -> word.startsWith("/examples/"))
                        .hasSize(1)
                        .allSatisfy(program -> assertThat(Chart.root().resolve(program.substring(1)))
                                .exists()
                                .hasParent(manifest.getParent()));
            });
            assertThat(objects)
                    .filteredOn(Service.class::isInstance)
                    .hasSize(1)
                    .allSatisfy(service -> assertThat(pods)
                            .anyMatch(pod -> ((Service) service)
                                    .getSpec()
                                    .getSelector()
                                    .equals(pod.getMetadata().getLabels())));
        }
    }

    /** Returns the file that examples/README.md names for an image. */
    private static String dockerfile(String image) {
        return image.replaceFirst("registry\\.example\\.com/examples-(\\w+):1", "examples/$1.Dockerfile");
    }

    private static Stream<PodTemplateSpec> pods(HasMetadata object) {
        return switch (object) {
            case Pod pod -> Stream.of(new PodTemplateSpec(pod.getMetadata(), pod.getSpec()));
            case Deployment deployment -> Stream.of(deployment.getSpec().getTemplate());
            case Job job -> Stream.of(job.getSpec().getTemplate());
            default -> Stream.empty();
        };
    }

    private static String header(String what) {
        return """
                # Copyright The Sidewarp Authors
                # SPDX-License-Identifier: Apache-2.0
                #
                # %s Rendered from helm/sidewarp by
                #   ./mvnw test -pl helm -am -Dtest=ManifestsTest -Dsurefire.failIfNoSpecifiedTests=false -Dmanifests.write=true
                """.formatted(what);
    }

    private static String id(HasMetadata object) {
        return object.getKind() + "/" + object.getMetadata().getName();
    }

    private static void compare(String file, String what, String rendered, Predicate<HasMetadata> selection)
            throws IOException {
        String documents = Chart.documents(rendered).stream()
                .filter(document -> selection.test(Chart.parse(document)))
                .map(document -> "---\n" + document)
                .collect(joining());
        compare(Chart.root().resolve("manifests").resolve(file), header(what) + documents);
    }

    private static void compare(Path file, String expected) throws IOException {
        if (WRITE) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, expected);
            return;
        }
        assertThat(file)
                .as("write it with ./mvnw test -pl helm -am -Dtest=ManifestsTest"
                        + " -Dsurefire.failIfNoSpecifiedTests=false -Dmanifests.write=true")
                .hasContent(expected);
    }
}
