// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.TestPods.NAMESPACE;
import static io.sidewarp.operator.controller.injection.TestPods.facts;
import static io.sidewarp.operator.controller.injection.TestPods.pod;
import static io.sidewarp.operator.controller.injection.TestPods.profile;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests pods with pod-level resources. */
class PodResourcesTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                // the pod's spec | resources of the profile | what is wrong
                "resources: {requests: {memory: 1Gi}}, containers: [{name: app, resources: {requests: {memory: 1Gi}}}]"
                        + "| {}"
                        + "| the containers of the pod request 1280Mi of memory, with 256Mi for the sidecar (SidecarProfile"
                        + " default), and the whole pod requests 1Gi; raise resources.requests of the pod to 1280Mi, or"
                        + " lower resources.requests of the profile",
                "resources: {requests: {cpu: 1}}, containers: [{name: app, resources: {requests: {cpu: 950m}}}]"
                        + "| {} | request 1050m of cpu, with 100m for the sidecar",
                "resources: {requests: {cpu: 1}}, containers: [{name: app, resources: {limits: {cpu: 1}}}]"
                        + "| {} | request 1100m of cpu,",
                "resources: {requests: {cpu: 1}}, containers: [{name: app}]"
                        + "| {requests: {}, limits: {cpu: 2}} | request 2 of cpu, with 2 for the sidecar",
                "resources: {requests: {cpu: 1}}, containers: [{name: app}], initContainers: [{name: proxy, restartPolicy:"
                        + " Always, resources: {requests: {cpu: 200m}}}, {name: load, resources: {requests: {cpu: 800m}}}]"
                        + "| {} | request 1100m of cpu,",
                "resources: {requests: {hugepages-2Mi: 1Gi}}, containers: [{name: app, resources: {limits: {cpu: 1,"
                        + " hugepages-2Mi: 1Gi}}}] | {limits: {cpu: 1, hugepages-2Mi: 1Gi}} | request 2Gi of hugepages-2Mi,",
            })
    void aPodThatWouldRequestMoreThanAsAWholeIsRefused(String spec, String resources, String message) {
        assertThat(decide(true, spec, resources))
                .isInstanceOfSatisfying(
                        Refuse.class, refuse -> assertThat(refuse.message()).contains(message));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "resources: {requests: {memory: 1280Mi, cpu: 1}}, containers: [{name: app, resources: {requests: {memory: 1Gi}}}]",
                "resources: {limits: {memory: 512Mi}}, containers: [{name: app}]",
                "resources: {requests: {memory: '1e9'}}, containers: [{name: app}]",
                "resources: {requests: {memory: '1e99999999'}}, containers: [{name: app}]",
                "resources: {requests: {memory: 1Gi}}, containers: [{name: app, resources: {requests: {memory: '1e-99999999'}}}]",
                "resources: {requests: {cpu: 1}}, containers: [{name: app, resources: {requests: {cpu: 900m}}}],"
                        + " initContainers: [{name: load, resources: {requests: {cpu: 900m}}}]",
                "resources: {}, containers: [{name: app, resources: {requests: {memory: 1Gi}}}]",
            })
    void aPodWithRoomForItsSidecarGetsIt(String spec) {
        assertThat(decide(true, spec, "{}")).isInstanceOf(Inject.class);
    }

    /** They end before it starts. */
    @ParameterizedTest
    @CsvSource({"false, 1, true", "true, 1, false"})
    void initContainersRequestNothingBesideAnOrdinarySidecar(boolean asNative, String ofInit, boolean injected) {
        InjectionDecision decision = decide(
                asNative,
                "resources: {requests: {cpu: 1}}, containers: [{name: app}], initContainers: [{name: load, resources:"
                        + " {requests: {cpu: " + ofInit + "}}}]",
                "{}");

        assertThat(decision instanceof Inject).isEqualTo(injected);
    }

    /** The API server compares no limits of init containers, which a native sidecar is. */
    @ParameterizedTest
    @CsvSource({"false, 512Mi, false", "true, 512Mi, true", "false, 3Gi, true"})
    void anOrdinarySidecarHasNoLimitAboveThePods(boolean asNative, String ofPod, boolean injected) {
        InjectionDecision decision = decide(
                asNative,
                "resources: {limits: {memory: " + ofPod + "}}, containers: [{name: app}]",
                "{limits: {memory: 3Gi}}");

        if (injected) {
            assertThat(decision).isInstanceOf(Inject.class);
        } else {
            assertThat(decision)
                    .isEqualTo(new Refuse(
                            "the sidecar's limit of memory is 3Gi (SidecarProfile default), and the limit of the whole"
                                    + " pod is 512Mi; raise resources.limits of the pod, or lower resources.limits of the"
                                    + " profile"));
        }
    }

    private static InjectionDecision decide(boolean nativeSidecars, String spec, String resources) {
        return InjectionRules.decide(
                pod("", spec),
                NAMESPACE,
                Map.of("sidewarp.io/inject", "enabled"),
                facts(Map.of("default", profile("{resources: " + resources + "}")), nativeSidecars, nativeSidecars));
    }
}
