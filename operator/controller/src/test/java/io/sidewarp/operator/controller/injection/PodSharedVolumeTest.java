// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.TestPods.NAMESPACE;
import static io.sidewarp.operator.controller.injection.TestPods.decide;
import static io.sidewarp.operator.controller.injection.TestPods.facts;
import static io.sidewarp.operator.controller.injection.TestPods.pod;
import static io.sidewarp.operator.controller.injection.TestPods.withSharedVolume;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which volumes for shared regions a sidecar can use, volumes of the pod included. */
class PodSharedVolumeTest {
    @ParameterizedTest
    @ValueSource(strings = {"/run/sidewarp/shared", "/run/sidewarp/regions", "/data"})
    void aPodMayMountItsOwnSharedVolumeAnywhereElse(String path) {
        Pod pod = pod(
                "",
                "containers: [{name: app, image: x, volumeMounts: [{name: sidewarp-shared, mountPath: " + path
                        + "}]}], volumes: [{name: sidewarp-shared, emptyDir: {medium: Memory}}]");

        assertThat(decide(true, pod, Map.of("sidewarp.io/inject", "enabled"))).isInstanceOf(Inject.class);
    }

    @Test
    void aDirectoryOfItIsInTheWayLikeAnyOtherVolume() {
        Pod pod = pod(
                "",
                "containers: [{name: app, image: x, volumeMounts: [{name: sidewarp-shared, mountPath: /run/sidewarp/shared,"
                        + " subPath: mine}]}], volumes: [{name: sidewarp-shared, emptyDir: {medium: Memory}}]");

        assertThat(decide(true, pod, Map.of("sidewarp.io/inject", "enabled")))
                .isInstanceOfSatisfying(
                        Refuse.class,
                        refusal -> assertThat(refusal.message())
                                .contains("container app mounts volume sidewarp-shared at /run/sidewarp/shared"));
    }

    @ParameterizedTest
    @CsvSource({"Memory, limited", "HugePages, 2mi", "HugePages-2Mi, 2mi", "HugePages-2048Ki, 2mi"})
    void aPodMayBringItsOwnSharedVolumeInMemory(String medium, String profile) {
        Pod pod = withSharedVolume(medium, "sidewarp.io/profile: " + profile, "{}");

        assertThat(decide(true, pod, Map.of("sidewarp.io/inject", "enabled"))).isInstanceOf(Inject.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "HugePages-2Mi; ; {}; SidecarProfile built-in gives the sidecar, which fills it, no limit of hugepages-2Mi;"
                        + " for instance hugepages-2Mi: 1Gi",
                "HugePages-2Mi; sidewarp.io/profile: limited; {hugepages-2Mi: 1Gi}; SidecarProfile limited gives the sidecar,"
                        + " which fills it, no limit of hugepages-2Mi; for instance hugepages-2Mi: 1Gi",
                "HugePages-1Gi; sidewarp.io/profile: 2mi; {}; no limit of hugepages-1Gi; for instance hugepages-1Gi: 1Gi",
                "HugePages; sidewarp.io/profile: limited; {}; no limit of huge pages; for instance hugepages-2Mi: 1Gi",
                "HugePages; sidewarp.io/profile: limited; {hugepages-1Gi: 1Gi}; no limit of huge pages; for instance"
                        + " hugepages-1Gi: 1Gi",
                "HugePages; sidewarp.io/profile: 2mi; {hugepages-1Gi: 1Gi}; limits of several (2Mi, 1Gi); make the medium"
                        + " HugePages-2Mi",
                "HugePages-big; sidewarp.io/profile: limited; {}; which is not in memory; of the medium Memory or HugePages",
            })
    void aSharedVolumeOfHugePagesThatTheSidecarCannotFillIsRefused(
            String medium, String annotation, String limits, String wrong, String advice) {
        Pod pod = withSharedVolume(medium, annotation == null ? "" : annotation, limits);

        assertThat(decide(true, pod, Map.of("sidewarp.io/inject", "enabled")))
                .isInstanceOfSatisfying(
                        Refuse.class,
                        refuse -> assertThat(refuse.message()).contains(wrong).contains(advice));
    }

    @Test
    void hugePagesOfTheWholePodAreAlsoForTheSidecar() {
        Pod pod = withSharedVolume("HugePages-2Mi", "", "{}");
        pod.getSpec().setResources(Yaml.parse("{limits: {hugepages-2Mi: 1Gi}}", ResourceRequirements.class));

        assertThat(decide(true, pod, Map.of("sidewarp.io/inject", "enabled"))).isInstanceOf(Inject.class);
    }

    @Test
    void thePodOfHugePagesInTheDocumentationGetsItsSidecar() throws IOException {
        Pod pod = Yaml.parse(documented("kind: Pod"), Pod.class);
        SidecarProfile profile = Yaml.parse(documented("kind: SidecarProfile"), SidecarProfile.class);

        Inject inject = (Inject) InjectionRules.decide(
                pod,
                NAMESPACE,
                Map.of("sidewarp.io/inject", "enabled"),
                facts(Map.of(profile.getMetadata().getName(), profile.getSpec())));
        PodSpec mutated =
                new PodMutator("example/sidecar:1", "1.0").mutate(pod, inject).getSpec();

        assertThat(mutated.getVolumes())
                .filteredOn(volume -> volume.getName().equals("sidewarp-shared"))
                .isEqualTo(pod.getSpec().getVolumes());
        assertThat(Stream.of(mutated.getInitContainers(), mutated.getContainers())
                        .flatMap(List::stream))
                .extracting(Container::getName)
                .containsExactly("sidewarp", "app");
        assertThat(Stream.of(mutated.getInitContainers(), mutated.getContainers())
                        .flatMap(List::stream))
                .allSatisfy(container -> {
                    assertThat(container.getVolumeMounts())
                            .extracting(VolumeMount::getName)
                            .contains("sidewarp-shared");
                    assertThat(container.getResources().getLimits()).containsKey("hugepages-2Mi");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "sidewarp.io/profile: limited; {name: v, emptyDir: {}}",
                "sidewarp.io/profile: limited, sidewarp.io/shared-memory: 1.5Gi; {name: v, emptyDir: {}}",
                "sidewarp.io/profile: 2mi, sidewarp.io/shared-memory: 4Gi; {name: sidewarp-shared, emptyDir: {medium:"
                        + " HugePages}}"
            })
    void sharedRegionsThatFitTheSidecarsMemoryAreLetIn(String annotations, String volume) {
        Pod pod = pod(annotations, "volumes: [" + volume + "]");

        assertThat(decide(true, pod, Map.of("sidewarp.io/inject", "enabled"))).isInstanceOf(Inject.class);
    }

    /** The object of the chapter about huge pages that has a certain line. */
    private static String documented(String line) throws IOException {
        String text = Files.readString(Path.of(System.getProperty("sidewarp.root"), "docs/configuration.md"));
        String example = text.substring(text.indexOf("```yaml", text.indexOf("## Huge pages")) + "```yaml".length());
        return Stream.of(example.substring(0, example.indexOf("```")).split("---"))
                .filter(object -> object.contains(line))
                .findFirst()
                .orElseThrow();
    }
}
