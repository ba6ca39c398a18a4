// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.TestPods.NAMESPACE;
import static io.sidewarp.operator.controller.injection.TestPods.PROFILES;
import static io.sidewarp.operator.controller.injection.TestPods.facts;
import static io.sidewarp.operator.controller.injection.TestPods.pod;
import static io.sidewarp.operator.controller.injection.TestPods.profile;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceClaim;
import io.fabric8.kubernetes.client.VersionInfo;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PodClaimTest {
    private static final PodMutator MUTATOR = new PodMutator("example/sidecar:1", "1.0");

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                // API server and nodes of a minor version, annotations, template of the claim
                "33, 'sidewarp.io/profile: fast', -",
                "34, 'sidewarp.io/profile: fast', sidewarp-fast",
                "36, 'sidewarp.io/profile: fast', sidewarp-fast",
                "34, 'sidewarp.io/profile: networked', -",
                "34, 'sidewarp.io/profile: container', -",
                "34, '', -",
                "34, 'sidewarp.io/profile: fast, sidewarp.io/rnics: \"0\"', -",
                "34, 'sidewarp.io/profile: fast, sidewarp.io/rnics: \"2\"', sidewarp-fast",
                "33, 'sidewarp.io/profile: fast, sidewarp.io/rnics: \"3\"', -",
                "36, 'sidewarp.io/profile: fast, sidewarp.io/rnics: \"3\"', -",
                "36, 'sidewarp.io/rnics: \"1\"', -",
            })
    void onlyAPodWithDevicesGetsAClaimAndOnlyWhereThereAreClaims(
            int minor, String annotations, @Nullable String template) {
        Inject inject = (Inject) withClaims(minor, annotations);

        assertThat(inject.claimTemplate()).isEqualTo(Optional.ofNullable(template));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sidewarp.io/profile: fast, sidewarp.io/rnics: '3'", "sidewarp.io/rnics: '3'"})
    void anotherNumberOfDevicesThanTheTemplateHasIsRefusedBeforeKubernetes136(String annotations) {
        assertThat(withClaims(35, annotations))
                .isInstanceOfSatisfying(
                        Refuse.class,
                        refuse -> assertThat(refuse.message())
                                .contains("the annotation sidewarp.io/rnics is 3")
                                .contains("name a SidecarProfile with rnics: 3"));
    }

    private static InjectionDecision withClaims(int minor, String annotations) {
        VersionInfo version = new VersionInfo.Builder()
                .withMajor("1")
                .withMinor(Integer.toString(minor))
                .build();
        Set<KubernetesFeature> features = Arrays.stream(KubernetesFeature.values())
                .filter(feature -> feature.isIn(version))
                .collect(Collectors.toSet());
        return InjectionRules.decide(
                pod(annotations, ""),
                NAMESPACE,
                Map.of("sidewarp.io/inject", "enabled"),
                facts(PROFILES, features, features));
    }

    @Test
    void claimTakesThePlaceOfTheExtendedResource() {
        SidecarProfileSpec profile = profile("{rnics: 2}");
        Inject decision = decision(profile, Optional.of("sidewarp-p"));

        Pod pod = MUTATOR.mutate(pod("", ""), decision);

        assertThat(pod.getSpec().getResourceClaims()).singleElement().satisfies(claim -> {
            assertThat(claim.getName()).isEqualTo("sidewarp-rnics");
            assertThat(claim.getResourceClaimTemplateName()).isEqualTo("sidewarp-p");
        });
        Container sidecar = pod.getSpec().getInitContainers().getFirst();
        assertThat(sidecar.getResources().getClaims())
                .extracting(ResourceClaim::getName)
                .containsExactly("sidewarp-rnics");
        assertThat(sidecar.getResources().getLimits()).doesNotContainKey("sidewarp.io/rnic");
        assertThat(pod.getSpec().getContainers())
                .allSatisfy(container -> assertThat(container.getResources()).isNull());
        assertThat(MUTATOR.mutate(pod, decision)).isEqualTo(pod);
    }

    @Test
    void reinvocationAddsNoClaimBesideTheExtendedResource() {
        SidecarProfileSpec profile = profile("{rnics: 1}");
        Pod injected = MUTATOR.mutate(pod("", ""), decision(profile, Optional.empty()));

        Pod again = MUTATOR.mutate(injected, decision(profile, Optional.of("sidewarp-p")));

        assertThat(again).isEqualTo(injected);
        assertThat(again.getSpec().getResourceClaims()).isEmpty();
    }

    private static Inject decision(SidecarProfileSpec profile, Optional<String> template) {
        return new Inject(
                "p",
                profile,
                Set.of("app"),
                profile.rnics(),
                Optional.empty(),
                "sidewarp.io/rnic",
                template,
                profile.sharedMemory(),
                true,
                Optional.empty(),
                PeerSecurity.NONE,
                Map.of());
    }
}
