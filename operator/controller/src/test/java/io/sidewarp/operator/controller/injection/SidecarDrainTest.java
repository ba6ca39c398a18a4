// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.Yaml;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the drain time of a sidecar within the grace period of its pod. */
class SidecarDrainTest {
    private static final String OUTLIVE = "SIDEWARP_ADVANCED_OUTLIVE_SESSIONS";
    private static final String DRAIN = "SIDEWARP_DRAIN_TIMEOUT";
    private static final String DEFAULT_GRACE = "";

    private static final PodMutator MUTATOR = new PodMutator("sidecar:1", "1");

    @ParameterizedTest
    @CsvSource({
        "'', 26s",
        "terminationGracePeriodSeconds: 120, 116s",
        "terminationGracePeriodSeconds: 1, 0s",
        "terminationGracePeriodSeconds: 86400, 3600s"
    })
    void anOrdinarySidecarOutlivesSessionsWithinTheGracePeriod(String grace, String drain) {
        assertThat(environment(grace, "{}", false))
                .containsEntry(OUTLIVE, "true")
                .containsEntry(DRAIN, drain);
    }

    @Test
    void profileCannotLetAnOrdinarySidecarOutliveTheGracePeriod() {
        assertThat(environment(DEFAULT_GRACE, "{settings: {sidewarp.drain-timeout: 30s}}", false))
                .containsEntry(OUTLIVE, "true")
                .containsEntry(DRAIN, "26s");
    }

    @Test
    void profileThatOutlivesNoSessionsHasItsOwnDrain() {
        assertThat(environment(
                        DEFAULT_GRACE,
                        "{settings: {sidewarp.advanced.outlive-sessions: 'false', sidewarp.drain-timeout: 5s}}",
                        false))
                .containsEntry(OUTLIVE, "false")
                .containsEntry(DRAIN, "5s");
    }

    /** The kubelet ends it after the applications. */
    @Test
    void aNativeSidecarKeepsTheDefaults() {
        assertThat(environment(DEFAULT_GRACE, "{}", true)).doesNotContainKeys(OUTLIVE, DRAIN);
    }

    private static Map<String, String> environment(String grace, String profile, boolean nativeSidecar) {
        Pod pod = Yaml.parse(
                "{apiVersion: v1, kind: Pod, spec: {containers: [{name: app, image: a}], " + grace + "}}", Pod.class);
        SidecarProfileSpec spec = Yaml.parse(profile, SidecarProfileSpec.class);
        InjectionDecision.Inject decision = new InjectionDecision.Inject(
                "p",
                spec,
                Set.of("app"),
                0,
                Optional.empty(),
                "sidewarp.io/rnic",
                Optional.empty(),
                spec.sharedMemory(),
                nativeSidecar,
                Optional.empty(),
                PeerSecurity.NONE,
                Map.of());
        Pod mutated = MUTATOR.mutate(pod, decision);
        Container sidecar = Stream.concat(
                        mutated.getSpec().getInitContainers().stream(), mutated.getSpec().getContainers().stream())
                .filter(container -> container.getName().equals(PodMutator.SIDECAR))
                .findFirst()
                .orElseThrow();
        Map<String, String> environment = new HashMap<>();
        for (EnvVar variable : sidecar.getEnv()) {
            environment.put(variable.getName(), variable.getValue());
        }
        return environment;
    }
}
