// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.MutatedPods.MUTATOR;
import static io.sidewarp.operator.controller.injection.MutatedPods.SIMPLE;
import static io.sidewarp.operator.controller.injection.MutatedPods.inject;
import static io.sidewarp.operator.controller.injection.MutatedPods.parse;
import static io.sidewarp.operator.controller.injection.MutatedPods.sidecar;
import static io.sidewarp.operator.controller.injection.TestPods.profile;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.Volume;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the resources that the sidecar of a mutated pod has. */
class SidecarLimitsTest {
    @Test
    void devicesAreAskedForAsLimitAndRequest() {
        Container sidecar =
                sidecar(MUTATOR.mutate(parse(SIMPLE), inject("{resources: {limits: {memory: 2Gi}}}", true, 3)));

        assertThat(sidecar.getResources().getLimits())
                .containsEntry("sidewarp.io/rnic", new Quantity("3"))
                .containsEntry("memory", new Quantity("2Gi"));
        assertThat(sidecar.getResources().getRequests()).containsEntry("sidewarp.io/rnic", new Quantity("3"));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                // profile, volume of the pod's own, limit
                "{}, -, 2Gi",
                "{sharedMemory: 4Gi}, -, 5Gi",
                "{sharedMemory: 512Mi}, -, 1536Mi",
                "{sharedMemory: 4Gi}, {medium: Memory}, 5Gi",
                "{sharedMemory: 4Gi}, \"{medium: Memory, sizeLimit: 2Gi}\", 3Gi",
                "{sharedMemory: 4Gi}, \"{medium: HugePages-2Mi, sizeLimit: 2Gi}\", 1Gi",
                "{resources: {limits: {memory: 7Gi}}}, -, 7Gi",
                "{resources: {limits: {cpu: 2}}}, -, -",
            })
    void theLimitOfMemoryHasRoomForSharedRegionsUnlessTheProfileGivesOne(String profile, String volume, String limit) {
        Pod original = parse(SIMPLE);
        if (!volume.equals("-")) {
            original.getSpec()
                    .setVolumes(List.of(Yaml.parse("{name: sidewarp-shared, emptyDir: " + volume + "}", Volume.class)));
        }

        Quantity memory = sidecar(MUTATOR.mutate(original, inject(profile, true, 0)))
                .getResources()
                .getLimits()
                .get("memory");

        assertThat(memory).isEqualTo(limit.equals("-") ? null : new Quantity(limit));
    }

    /** A container without one has the pod's. */
    @ParameterizedTest
    @CsvSource({
        // the whole pod's limit of memory, profile, the sidecar's
        "1Gi, {}, -",
        "2Gi, {}, 2Gi",
        "8Gi, {}, 2Gi",
        "1e9, {}, -",
        "1e99999999, {}, 2Gi",
        "1Gi, {resources: {limits: {memory: 2Gi}}}, 2Gi",
    })
    void theLimitOfMemoryIsThePodsWhereThatIsLower(String ofPod, String profile, String limit) {
        Pod original = parse(
                "{apiVersion: v1, kind: Pod, spec: {resources: {limits: {cpu: 1, memory: '%s'}}, containers: [{name: app}]}}"
                        .formatted(ofPod));

        Quantity memory = sidecar(MUTATOR.mutate(original, inject(profile, true, 0)))
                .getResources()
                .getLimits()
                .get("memory");

        assertThat(memory).isEqualTo(limit.equals("-") ? null : new Quantity(limit));
    }

    @Test
    void theLimitOfMemoryHasRoomForWhatThePodAskedFor() {
        Inject decision = new Inject(
                "p",
                profile("{sharedMemory: 1Gi}"),
                Set.of("app"),
                0,
                Optional.empty(),
                "sidewarp.io/rnic",
                Optional.empty(),
                new Quantity("4Gi"),
                true,
                Optional.empty(),
                PeerSecurity.NONE,
                Map.of());

        Container sidecar = sidecar(MUTATOR.mutate(parse(SIMPLE), decision));

        assertThat(sidecar.getResources().getLimits()).containsEntry("memory", new Quantity("5Gi"));
        assertThat(sidecar.getResources().getRequests()).containsEntry("memory", new Quantity("256Mi"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                // resources of the application; profile; requests of the sidecar; limits of the sidecar
                "{limits: {cpu: 1, memory: 1Gi}}; {}; {cpu: 500m, memory: 2Gi}; {cpu: 500m, memory: 2Gi}",
                "{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 1000m, memory: 1024Mi}}; {resources: {requests: {cpu: 2}}};"
                        + " {cpu: 2, memory: 2Gi}; {cpu: 2, memory: 2Gi}",
                "{limits: {cpu: 1, memory: 1Gi}}; {resources: {limits: {cpu: 3, hugepages-2Mi: 4Mi}}};"
                        + " {cpu: 3, memory: 2Gi, hugepages-2Mi: 4Mi}; {cpu: 3, memory: 2Gi, hugepages-2Mi: 4Mi}",
                "{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 1, memory: 512Mi}}; {}; {cpu: 100m, memory: 256Mi};"
                        + " {memory: 2Gi}",
                "{limits: {memory: 1Gi}}; {}; {cpu: 100m, memory: 256Mi}; {memory: 2Gi}",
                "{}; {}; {cpu: 100m, memory: 256Mi}; {memory: 2Gi}",
            })
    void aPodOfTheClassGuaranteedStaysInThisClass(String resources, String profile, String requests, String limits) {
        Pod pod = MUTATOR.mutate(
                parse("{apiVersion: v1, kind: Pod, spec: {containers: [{name: app, image: a, resources: " + resources
                        + "}]}}"),
                inject(profile, true, 0));

        assertThat(sidecar(pod).getResources())
                .isEqualTo(
                        Yaml.parse("{requests: " + requests + ", limits: " + limits + "}", ResourceRequirements.class));
    }

    @Test
    void anInitContainerCountsForTheClassOfAPod() {
        Pod pod = MUTATOR.mutate(parse("""
                {apiVersion: v1, kind: Pod, spec: {initContainers: [{name: setup, image: a}],
                  containers: [{name: app, image: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]}}
                """), inject("{}", true, 0));

        assertThat(sidecar(pod).getResources().getLimits()).doesNotContainKey("cpu");
    }
}
