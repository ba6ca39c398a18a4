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

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.SecurityContext;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SidecarIdentityTest {
    @Test
    void theSidecarHasNoPrivileges() {
        SecurityContext context =
                sidecar(MUTATOR.mutate(parse(SIMPLE), inject("{}", true, 2))).getSecurityContext();

        assertThat(context.getRunAsNonRoot()).isTrue();
        assertThat(context.getRunAsUser()).isEqualTo(7471);
        assertThat(context.getReadOnlyRootFilesystem()).isTrue();
        assertThat(context.getAllowPrivilegeEscalation()).isFalse();
        assertThat(context.getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(context.getCapabilities().getAdd()).isEmpty();
        assertThat(context.getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            nullValues = "-",
            value = {
                // profile; security context of the pod; user; group; supplemental groups
                "{}; {}; 7471; 7471; 7471",
                "{}; {runAsUser: 1000, fsGroup: 2000}; 1000; 2000; -",
                "{}; {runAsUser: 0, fsGroup: 0}; 7471; 7471; 7471",
                "{runAsUser: 3000, runAsGroup: 4000}; {runAsUser: 1000, fsGroup: 2000}; 3000; 4000; 4000",
                "{runAsGroup: 2000}; {fsGroup: 2000}; 7471; 2000; -",
            })
    void theSidecarHasTheUserOfThePodAndTheGroupOfItsVolumes(
            String profile, String context, long user, long group, Long supplemental) {
        Pod pod = MUTATOR.mutate(
                parse("{apiVersion: v1, kind: Pod, spec: {securityContext: " + context
                        + ", containers: [{name: app, image: a}]}}"),
                inject(profile, true, 0));

        assertThat(sidecar(pod).getSecurityContext().getRunAsUser()).isEqualTo(user);
        assertThat(sidecar(pod).getSecurityContext().getRunAsGroup()).isEqualTo(group);
        assertThat(pod.getSpec().getSecurityContext().getSupplementalGroups())
                .isEqualTo(supplemental == null ? List.of() : List.of(supplemental));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                // uid-range; supplemental-groups; profile; user; group
                "1000650000/10000; 1000660000/10000; {}; 1000650000; 1000660000",
                "1000650000-1000659999; 1000660000/10000,5/6; {}; 1000650000; 1000660000",
                "1000650000/10000; 1000660000/10000; {runAsUser: 1000, runAsGroup: 2000}; 1000; 2000",
                "0/10; none; {}; 7471; 7471",
            })
    void theSidecarHasTheUserAndTheGroupThatOpenShiftAllowsInTheNamespace(
            String users, String groups, String profile, long user, long group) {
        Pod pod = MUTATOR.mutate(
                parse(SIMPLE),
                inject(
                        profile,
                        true,
                        0,
                        Map.of(
                                "openshift.io/sa.scc.uid-range",
                                users,
                                "openshift.io/sa.scc.supplemental-groups",
                                groups)));

        assertThat(sidecar(pod).getSecurityContext().getRunAsUser()).isEqualTo(user);
        assertThat(sidecar(pod).getSecurityContext().getRunAsGroup()).isEqualTo(group);
        assertThat(pod.getSpec().getSecurityContext().getSupplementalGroups()).containsExactly(group);
    }
}
