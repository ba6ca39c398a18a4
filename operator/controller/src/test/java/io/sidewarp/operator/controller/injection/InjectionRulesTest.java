// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.TestPods.NAMESPACE;
import static io.sidewarp.operator.controller.injection.TestPods.PROFILES;
import static io.sidewarp.operator.controller.injection.TestPods.decide;
import static io.sidewarp.operator.controller.injection.TestPods.facts;
import static io.sidewarp.operator.controller.injection.TestPods.pod;
import static io.sidewarp.operator.controller.injection.TestPods.withSharedVolume;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import io.fabric8.kubernetes.api.model.Pod;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import io.sidewarp.operator.controller.injection.InjectionDecision.Skip;
import io.sidewarp.operator.controller.injection.InjectionDecision.SkipReason;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class InjectionRulesTest {
    private static final String INIT_CONTAINERS = "initContainers: [{name: load, image: c}, {name: migrate, image: d}]";

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                // namespace, pod, expected
                "-, -, NOT_ASKED_FOR",
                "enabled, -, injected",
                "-, enabled, injected",
                "enabled, enabled, injected",
                "true, -, injected",
                "-, true, injected",
                "disabled, -, OPTED_OUT",
                "-, disabled, OPTED_OUT",
                "enabled, disabled, OPTED_OUT",
                "disabled, enabled, OPTED_OUT",
                "enabled, false, OPTED_OUT",
                "enabled, Yes, refused",
                "ENABLED, -, refused",
                "-, '', refused",
            })
    void optOutWinsOverOptIn(String namespaceLabel, String podAnnotation, String expected) {
        Pod pod = pod(podAnnotation == null ? "" : "sidewarp.io/inject: '" + podAnnotation + "'", "");

        InjectionDecision decision =
                decide(true, pod, namespaceLabel == null ? Map.of() : Map.of("sidewarp.io/inject", namespaceLabel));

        assertThat(outcome(decision)).isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource
    void contradictionsAreRefusedWithWhatToDo(boolean nativeSidecars, Pod pod, String message) {
        InjectionDecision decision = decide(nativeSidecars, pod, Map.of("sidewarp.io/inject", "enabled"));

        assertThat(decision)
                .isInstanceOfSatisfying(
                        Refuse.class, refuse -> assertThat(refuse.message()).contains(message));
    }

    static Stream<Arguments> contradictionsAreRefusedWithWhatToDo() {
        return Stream.of(
                argumentSet(
                        "missing profile",
                        true,
                        pod("sidewarp.io/profile: slow", ""),
                        "SidecarProfile slow, which namespace shop does not have; create it there"),
                argumentSet(
                        "unsaid profile",
                        true,
                        pod("sidewarp.io/profile: ''", ""),
                        "sidewarp.io/profile is \"\", which is no valid name of a SidecarProfile; give the name"
                                + " of a profile in namespace shop, or remove the annotation"),
                argumentSet(
                        "profile with a line end",
                        true,
                        pod("sidewarp.io/profile: \"fast\\n\"", ""),
                        "which is no valid name of a SidecarProfile"),
                argumentSet(
                        "profile of another namespace",
                        true,
                        pod("sidewarp.io/profile: other/fast", ""),
                        "which is no valid name of a SidecarProfile"),
                argumentSet(
                        "profile of a long name",
                        true,
                        pod("sidewarp.io/profile: " + "a".repeat(254), ""),
                        "which is no valid name of a SidecarProfile"),
                argumentSet(
                        "unusable profile",
                        true,
                        pod("sidewarp.io/profile: broken", ""),
                        "SidecarProfile broken of namespace shop cannot be used: settings has sidewarp.api.socket"),
                argumentSet(
                        "unknown container",
                        true,
                        pod("sidewarp.io/containers: 'app, web'", ""),
                        "names web, which is no container of the pod; it has app, worker"),
                argumentSet(
                        "too many containers",
                        true,
                        pod(
                                "",
                                "initContainers: [{name: first}], containers: [{name: app}" + ", {name: x}".repeat(249)
                                        + "]"),
                        "the pod has 251 containers, and can have 250 with a sidecar; make several pods of it"),
                argumentSet("no container", true, pod("sidewarp.io/containers: ' ,'", ""), "names no container"),
                argumentSet(
                        "unknown container, of a pod with init containers",
                        true,
                        pod("sidewarp.io/containers: web", INIT_CONTAINERS),
                        "names web, which is no container of the pod; it has app, worker, load, migrate"),
                argumentSet(
                        "no container of a pod with init containers",
                        true,
                        pod("sidewarp.io/containers: ''", INIT_CONTAINERS),
                        "names no container; the pod has app, worker, load, migrate"),
                argumentSet(
                        "init container that an ordinary sidecar comes too late for",
                        false,
                        pod("sidewarp.io/containers: 'app, load'", INIT_CONTAINERS),
                        "names the init container load, which ends before an ordinary sidecar starts; do not name it"),
                argumentSet("negative devices", true, pod("sidewarp.io/rnics: '-1'", ""), "a number from 0 to 16"),
                argumentSet("too many devices", true, pod("sidewarp.io/rnics: '17'", ""), "a number from 0 to 16"),
                argumentSet("devices in words", true, pod("sidewarp.io/rnics: two", ""), "is \"two\""),
                argumentSet(
                        "no network yet",
                        true,
                        pod("sidewarp.io/profile: too-early", ""),
                        "takes devices of the IwarpNicPolicy x722, which has no network (yet); see its conditions"),
                argumentSet(
                        "networks that are no list",
                        true,
                        pod("sidewarp.io/profile: networked, k8s.v1.cni.cncf.io/networks: '[{'", ""),
                        "the annotation k8s.v1.cni.cncf.io/networks cannot be read"),
                argumentSet("no memory", true, pod("sidewarp.io/shared-memory: '0'", ""), "above 0"),
                argumentSet("unsaid memory", true, pod("sidewarp.io/shared-memory: ''", ""), "for instance 512Mi"),
                argumentSet(
                        // With more digits in the exponent, the calculation of the sidecar's memory limit takes
                        // minutes.
                        "memory beyond all numbers",
                        true,
                        pod("sidewarp.io/shared-memory: '1e9999'", ""),
                        "is \"1e9999\"; it can be an amount of memory above 0"),
                argumentSet(
                        "hardly any memory",
                        true,
                        pod("sidewarp.io/shared-memory: '1e-9999'", ""),
                        "is \"1e-9999\"; it can be an amount of memory above 0"),
                argumentSet(
                        "shared volume of huge pages of no size",
                        true,
                        withSharedVolume("HugePages-", "", "{hugepages-: 1Gi}"),
                        "which is not in memory"),
                argumentSet("memory in words", true, pod("sidewarp.io/shared-memory: lots", ""), "for instance 512Mi"),
                argumentSet(
                        "more shared memory than the sidecar may have",
                        true,
                        pod("sidewarp.io/profile: limited, sidewarp.io/shared-memory: 2Gi", ""),
                        "SidecarProfile limited of namespace shop cannot be used: resources has a limit of memory (2Gi)"
                                + " not above what shared regions can take of it (2Gi); raise the limit to 3Gi"),
                argumentSet(
                        "larger shared volume than the sidecar may have memory",
                        true,
                        pod(
                                "sidewarp.io/profile: limited",
                                "volumes: [{name: sidewarp-shared, emptyDir: {medium: Memory, sizeLimit: 4Gi}}]"),
                        "raise the limit to 5Gi"),
                argumentSet(
                        "native on an old cluster",
                        false,
                        pod("sidewarp.io/profile: native", ""),
                        "needs Kubernetes 1.29 or later"),
                argumentSet(
                        "job with an ordinary container",
                        false,
                        pod("sidewarp.io/inject: enabled", "restartPolicy: Never"),
                        "would never complete"),
                argumentSet(
                        "sidecar for Windows",
                        true,
                        pod("sidewarp.io/inject: enabled", "os: {name: windows}"),
                        "the pod runs on windows nodes, and sidecars run on linux ones; opt out with"
                                + " sidewarp.io/inject: disabled"),
                argumentSet(
                        "container of that name",
                        true,
                        pod("", "initContainers: [{name: sidewarp, image: x}]"),
                        "a container of its own named sidewarp"),
                argumentSet(
                        "container of that name, with the annotation of another pod",
                        true,
                        pod("sidewarp.io/injected: 'profile=p'", "containers: [{name: sidewarp, image: x}]"),
                        "a container of its own named sidewarp"),
                argumentSet(
                        "volume for the socket, with the annotation of another pod",
                        true,
                        pod("sidewarp.io/injected: 'profile=p'", "volumes: [{name: sidewarp-api, emptyDir: {}}]"),
                        "a volume of its own named sidewarp-api; rename it"),
                argumentSet(
                        "volume for the socket",
                        true,
                        pod("", "volumes: [{name: sidewarp-api, emptyDir: {medium: Memory}}]"),
                        "a volume of its own named sidewarp-api; rename it"),
                argumentSet(
                        "shared volume on a disk",
                        true,
                        pod("", "volumes: [{name: sidewarp-shared, emptyDir: {}}]"),
                        "a volume of its own named sidewarp-shared, which is not in memory; make it an emptyDir"),
                argumentSet(
                        "shared volume that outlives the pod",
                        true,
                        pod("", "volumes: [{name: sidewarp-shared, persistentVolumeClaim: {claimName: x}}]"),
                        "which is not in memory"),
                argumentSet(
                        "port of the sidecar",
                        true,
                        pod(
                                "sidewarp.io/containers: app",
                                "containers: [{name: app}, {name: worker, ports: [{containerPort: 80},"
                                        + " {containerPort: 9464}]}]"),
                        "container worker has the port 9464, where the sidecar has its health and metrics; give one of"
                                + " them another: the sidecar by managementPort of the SidecarProfile"),
                argumentSet(
                        "port of the sidecar, in an init container that it runs beside",
                        true,
                        pod("", "initContainers: [{name: load, ports: [{containerPort: 9464, protocol: TCP}]}]"),
                        "container load has the port 9464"),
                argumentSet(
                        "port that the profile gives the sidecar",
                        true,
                        pod(
                                "sidewarp.io/profile: at-9465",
                                "containers: [{name: app, ports: [{containerPort: 9465}]}]"),
                        "container app has the port 9465"),
                argumentSet(
                        "mount at that place",
                        true,
                        pod(
                                "",
                                "initContainers: [], containers: [{name: app, image: x, volumeMounts: [{name: v,"
                                        + " mountPath: /run/sidewarp/}]}]"),
                        "container app mounts volume v at /run/sidewarp/"),
                argumentSet(
                        "shared volume at that place",
                        true,
                        pod(
                                "",
                                "containers: [{name: app, image: x, volumeMounts: [{name: sidewarp-shared,"
                                        + " mountPath: /run/sidewarp/}]}], volumes: [{name: sidewarp-shared, emptyDir:"
                                        + " {medium: Memory}}]"),
                        "container app mounts volume sidewarp-shared at /run/sidewarp/"),
                argumentSet(
                        "mount below that place",
                        true,
                        pod(
                                "sidewarp.io/profile: elsewhere",
                                "containers: [{name: app, image: x, volumeMounts: [{name: v,"
                                        + " mountPath: /opt/rdma/shared}]}]"),
                        "container app mounts volume v"));
    }

    @Test
    void aPortThatTheSidecarDoesNotUseIsNotInTheWay() {
        String ports = "ports: [{containerPort: 9464, protocol: %s}]";
        Map<String, String> labels = Map.of("sidewarp.io/inject", "enabled");

        assertThat(decide(
                        true,
                        pod(
                                "sidewarp.io/profile: at-9465",
                                "containers: [{name: app, " + ports.formatted("TCP") + "}]"),
                        labels))
                .isInstanceOf(Inject.class);
        assertThat(decide(true, pod("", "containers: [{name: app, " + ports.formatted("UDP") + "}]"), labels))
                .isInstanceOf(Inject.class);
        assertThat(decide(false, pod("", "initContainers: [{name: load, " + ports.formatted("TCP") + "}]"), labels))
                .isInstanceOf(Inject.class);
    }

    @Test
    void annotationsCountMoreThanTheProfile() {
        Inject inject = (Inject) decide(
                true,
                pod(
                        "sidewarp.io/profile: fast, sidewarp.io/rnics: '0', sidewarp.io/shared-memory: 64Mi,"
                                + " sidewarp.io/containers: worker",
                        ""),
                Map.of("sidewarp.io/inject", "enabled"));

        assertThat(inject.profileName()).isEqualTo("fast");
        assertThat(inject.rnics()).isZero();
        assertThat(inject.sharedMemory()).hasToString("64Mi");
        assertThat(inject.containers()).containsExactly("worker");
    }

    @Test
    void whatTheProfileSaysCountsWhereAnnotationsDoNot() {
        Inject inject =
                (Inject) decide(true, pod("sidewarp.io/profile: fast", ""), Map.of("sidewarp.io/inject", "enabled"));

        assertThat(inject.rnics()).isEqualTo(2);
        assertThat(inject.sharedMemory()).hasToString("2Gi");
        assertThat(inject.containers()).containsExactly("app", "worker");
    }

    @Test
    void initContainersAreMeantOnlyWhereTheyAreNamed() {
        Map<String, String> labels = Map.of("sidewarp.io/inject", "enabled");

        Inject all = (Inject) decide(true, pod("", INIT_CONTAINERS), labels);
        Inject named = (Inject) decide(true, pod("sidewarp.io/containers: 'app, load'", INIT_CONTAINERS), labels);

        assertThat(all.containers()).containsExactly("app", "worker");
        assertThat(named.containers()).containsExactly("app", "load");
    }

    @Test
    void anInitContainerThatKeepsRunningCanHaveAnOrdinarySidecar() {
        Inject inject = (Inject) decide(
                false,
                pod(
                        "sidewarp.io/containers: proxy",
                        "initContainers: [{name: load, image: c}, {name: proxy, image: d, restartPolicy: Always}]"),
                Map.of("sidewarp.io/inject", "enabled"));

        assertThat(inject.nativeSidecar()).isFalse();
        assertThat(inject.containers()).containsExactly("proxy");
    }

    @Test
    void withoutAProfileTheDefaultsCount() {
        Inject inject = (Inject) decide(true, pod("", ""), Map.of("sidewarp.io/inject", "enabled"));

        assertThat(inject.profileName()).isEqualTo("built-in");
        assertThat(inject.rnics()).isZero();
        assertThat(inject.profile()).isEqualTo(SidecarProfileSpec.defaults());
    }

    @ParameterizedTest
    @CsvSource({
        // API server and nodes that have native sidecars, profile, expected
        "true, true, fast, true",
        "true, true, container, false",
        "true, true, native, true",
        "true, false, fast, false",
        "true, false, container, false",
        "true, false, native, true",
        "false, true, fast, false",
        "false, true, container, false",
        "false, false, fast, false"
    })
    void theSidecarIsNativeWhereTheClusterAndTheProfileAllowIt(
            boolean apiServer, boolean nodes, String profile, boolean expected) {
        Inject inject = (Inject) InjectionRules.decide(
                pod("sidewarp.io/profile: " + profile, ""),
                NAMESPACE,
                Map.of("sidewarp.io/inject", "enabled"),
                facts(PROFILES, apiServer, apiServer && nodes));

        assertThat(inject.nativeSidecar()).isEqualTo(expected);
    }

    @Test
    void aJobThatAnOldNodeMayGetRunsWithoutASidecarAndIsTold() {
        InjectionDecision decision = InjectionRules.decide(
                pod("", "restartPolicy: OnFailure"),
                NAMESPACE,
                Map.of("sidewarp.io/inject", "enabled"),
                facts(PROFILES, true, false));

        assertThat(decision).isInstanceOfSatisfying(Skip.class, skip -> {
            assertThat(skip.reason()).isEqualTo(SkipReason.NEVER_COMPLETES);
            assertThat(skip.warnings())
                    .singleElement()
                    .asString()
                    .contains("native sidecars need Kubernetes 1.29 or later, on each Linux node too");
        });
    }

    @Test
    void aJobOfALabelledNamespaceRunsWithoutAnOrdinarySidecarAndIsTold() {
        InjectionDecision decision =
                decide(false, pod("", "restartPolicy: OnFailure"), Map.of("sidewarp.io/inject", "enabled"));

        assertThat(decision).isInstanceOfSatisfying(Skip.class, skip -> {
            assertThat(skip.reason()).isEqualTo(SkipReason.NEVER_COMPLETES);
            assertThat(skip.warnings()).singleElement().asString().contains("would never complete");
        });
    }

    @Test
    void aJobGetsANativeSidecar() {
        assertThat(decide(true, pod("", "restartPolicy: Never"), Map.of("sidewarp.io/inject", "enabled")))
                .isInstanceOf(Inject.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"os: {name: windows}", "nodeSelector: {kubernetes.io/os: windows}"})
    void aPodForWindowsOfALabelledNamespaceStaysAsItIsAndIsTold(String spec) {
        InjectionDecision decision = decide(true, pod("", spec), Map.of("sidewarp.io/inject", "enabled"));

        assertThat(decision).isInstanceOfSatisfying(Skip.class, skip -> {
            assertThat(skip.reason()).isEqualTo(SkipReason.NOT_LINUX);
            assertThat(skip.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("no sidecar was injected: the pod runs on windows nodes");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"os: {name: linux}", "nodeSelector: {kubernetes.io/os: linux}", "nodeSelector: {rack: a}"})
    void aPodForLinuxGetsItsSidecar(String spec) {
        assertThat(decide(true, pod("", spec), Map.of("sidewarp.io/inject", "enabled")))
                .isInstanceOf(Inject.class);
    }

    /** Its kubelet runs what its own file says, whatever the API server has of it. */
    @ParameterizedTest
    @ValueSource(strings = {"", ", sidewarp.io/inject: enabled", ", sidewarp.io/rnics: many"})
    void theMirrorOfAStaticPodStaysAsItIs(String annotations) {
        Pod pod = pod("kubernetes.io/config.mirror: 6d1f" + annotations, "");

        assertThat(decide(true, pod, Map.of("sidewarp.io/inject", "enabled")))
                .isEqualTo(new Skip(SkipReason.MIRROR_POD, List.of()));
    }

    @Test
    void annotationsWithoutEffectAreTold() {
        assertThat(decide(true, pod("sidewarp.io/rnics: '1'", ""), Map.of()))
                .isInstanceOfSatisfying(
                        Skip.class,
                        skip -> assertThat(skip.warnings())
                                .singleElement()
                                .asString()
                                .contains("sidewarp.io/rnics had no effect"));
    }

    @Test
    void aPodThatAsksInAForbiddingNamespaceIsTold() {
        assertThat(decide(true, pod("sidewarp.io/inject: enabled", ""), Map.of("sidewarp.io/inject", "disabled")))
                .isInstanceOfSatisfying(
                        Skip.class,
                        skip -> assertThat(skip.warnings())
                                .singleElement()
                                .asString()
                                .contains("namespace shop forbids it"));
    }

    /** As the API server sends a pod without any. */
    @ParameterizedTest
    @ValueSource(strings = {"{apiVersion: v1, kind: Pod, spec: {containers: null}}", "{apiVersion: v1, kind: Pod}"})
    void aPodWithoutContainersIsRefused(String pod) {
        assertThat(decide(true, Yaml.parse(pod, Pod.class), Map.of("sidewarp.io/inject", "enabled")))
                .isEqualTo(new Refuse("the pod has no containers"));
    }

    private static String outcome(InjectionDecision decision) {
        return switch (decision) {
            case Inject inject -> "injected";
            case Skip skip -> skip.reason().name();
            case Refuse refuse -> "refused";
        };
    }
}
