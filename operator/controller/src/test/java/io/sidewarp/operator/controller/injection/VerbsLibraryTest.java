// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.MutatedPods.MUTATOR;
import static io.sidewarp.operator.controller.injection.MutatedPods.container;
import static io.sidewarp.operator.controller.injection.MutatedPods.environment;
import static io.sidewarp.operator.controller.injection.MutatedPods.sidecar;
import static io.sidewarp.operator.controller.injection.TestPods.NAMESPACE;
import static io.sidewarp.operator.controller.injection.TestPods.facts;
import static io.sidewarp.operator.controller.injection.TestPods.pod;
import static io.sidewarp.operator.controller.injection.TestPods.profile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import io.sidewarp.operator.controller.injection.InjectionDecision.Skip;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests pods with the annotation {@code sidewarp.io/verbs}. */
class VerbsLibraryTest {
    private static final String LIBRARY = "/run/sidewarp/verbs/libsidewarp-verbs.so";
    private static final String DIRECTORY = "/run/sidewarp/verbs";

    private static InjectionDecision decide(Pod pod, String profile, boolean nativeSidecars) {
        return InjectionRules.decide(
                pod,
                NAMESPACE,
                Map.of("sidewarp.io/inject", "enabled"),
                facts(Map.of("default", profile(profile)), nativeSidecars, nativeSidecars));
    }

    private static Pod mutate(Pod pod, String profile, boolean nativeSidecars) {
        assertThat(decide(pod, profile, nativeSidecars)).isInstanceOf(Inject.class);
        return MUTATOR.mutate(pod, (Inject) decide(pod, profile, nativeSidecars));
    }

    private static Pod enabled(String spec) {
        return pod("sidewarp.io/verbs: enabled", spec);
    }

    private static List<String> names(List<Container> containers) {
        return containers.stream().map(Container::getName).toList();
    }

    private static List<VolumeMount> mounts(Pod pod, String container) {
        return container(pod, container).getVolumeMounts().stream()
                .filter(mount -> mount.getName().equals("sidewarp-verbs"))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "enabled, LD_PRELOAD, /run/sidewarp/verbs/libsidewarp-verbs.so",
        "path, LD_LIBRARY_PATH, /run/sidewarp/verbs"
    })
    void containersFindTheLibraryInAReadOnlyVolume(String annotation, String variable, String value) {
        Pod pod = mutate(pod("sidewarp.io/verbs: " + annotation, ""), "{}", true);

        assertThat(List.of("app", "worker")).allSatisfy(name -> {
            assertThat(environment(container(pod, name))).containsEntry(variable, value);
            assertThat(mounts(pod, name)).singleElement().satisfies(mount -> {
                assertThat(mount.getMountPath()).isEqualTo(DIRECTORY);
                assertThat(mount.getReadOnly()).isTrue();
            });
        });
        assertThat(environment(sidecar(pod))).doesNotContainKey(variable);
    }

    @ParameterizedTest
    @CsvSource({"'', app, false", "'sidewarp.io/verbs: disabled', app, false", "'sidewarp.io/verbs: enabled', app, true"
    })
    void onlyPodsThatAskGetTheLibrary(String annotations, String container, boolean expected) {
        Pod pod = mutate(pod(annotations, ""), "{}", true);

        assertThat(environment(container(pod, container)).containsKey("LD_PRELOAD"))
                .isEqualTo(expected);
        assertThat(names(pod.getSpec().getInitContainers()).contains("sidewarp-verbs"))
                .isEqualTo(expected);
    }

    @Test
    void onlyChosenContainersGetTheLibrary() {
        Pod pod = mutate(
                pod(
                        "sidewarp.io/verbs: enabled, sidewarp.io/containers: 'app, load'",
                        "initContainers: [{name: load, image: c}, {name: migrate, image: d}]"),
                "{}",
                true);

        assertThat(environment(container(pod, "app"))).containsEntry("LD_PRELOAD", LIBRARY);
        assertThat(environment(container(pod, "load"))).containsEntry("LD_PRELOAD", LIBRARY);
        assertThat(List.of("worker", "migrate")).allSatisfy(name -> {
            assertThat(environment(container(pod, name))).isEmpty();
            assertThat(mounts(pod, name)).isEmpty();
        });
    }

    @ParameterizedTest
    @CsvSource({"true, 'sidewarp-verbs,sidewarp,load'", "false, 'sidewarp-verbs,load'"})
    void theInstallerRunsBeforeAllOtherContainers(boolean nativeSidecars, String expected) {
        Pod pod = mutate(enabled("initContainers: [{name: load, image: c}]"), "{}", nativeSidecars);

        assertThat(String.join(",", names(pod.getSpec().getInitContainers()))).isEqualTo(expected);
    }

    @Test
    void theInstallerHasTheImageTheRightsAndTheResourcesOfTheSidecar() {
        Pod pod = mutate(
                enabled(""),
                "{image: x/y:2, imagePullPolicy: Always, resources: {limits: {cpu: 1, memory: 2Gi}}}",
                true);
        Container sidecar = sidecar(pod);
        Container installer = container(pod, "sidewarp-verbs");

        assertThat(installer.getImage()).isEqualTo("x/y:2");
        assertThat(installer.getImagePullPolicy()).isEqualTo("Always");
        assertThat(installer.getSecurityContext()).isEqualTo(sidecar.getSecurityContext());
        assertThat(installer.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(installer.getResources()).isEqualTo(sidecar.getResources());
        assertThat(installer.getRestartPolicy()).isNull();
        assertThat(installer.getCommand()).containsExactly("/opt/sidewarp/bin/sidewarp-verbs", "/run/sidewarp/verbs");
        assertThat(mounts(pod, "sidewarp-verbs")).singleElement().satisfies(mount -> {
            assertThat(mount.getMountPath()).isEqualTo("/run/sidewarp/verbs");
            assertThat(mount.getReadOnly()).isNull();
        });
    }

    @Test
    void theVolumeIsInMemoryAndBounded() {
        assertThat(mutate(enabled(""), "{}", true).getSpec().getVolumes())
                .filteredOn(volume -> volume.getName().equals("sidewarp-verbs"))
                .singleElement()
                .extracting(Volume::getEmptyDir)
                .satisfies(directory -> {
                    assertThat(directory.getMedium()).isEqualTo("Memory");
                    assertThat(directory.getSizeLimit()).hasToString("8Mi");
                });
    }

    @Test
    void theLibraryIsBelowTheMountPathOfTheProfile() {
        Pod pod = mutate(enabled(""), "{mountPath: /opt/rdma}", true);

        assertThat(environment(container(pod, "app")))
                .containsEntry("LD_PRELOAD", "/opt/rdma/verbs/libsidewarp-verbs.so");
        assertThat(mounts(pod, "app")).extracting(VolumeMount::getMountPath).containsExactly("/opt/rdma/verbs");
    }

    @ParameterizedTest
    @CsvSource({
        "enabled, 'LD_PRELOAD, value: /own.so', LD_PRELOAD, '/run/sidewarp/verbs/libsidewarp-verbs.so:/own.so'",
        "enabled, 'LD_PRELOAD, value: \"\"', LD_PRELOAD, '/run/sidewarp/verbs/libsidewarp-verbs.so'",
        "enabled, 'LD_PRELOAD', LD_PRELOAD, '/run/sidewarp/verbs/libsidewarp-verbs.so'",
        "enabled, 'LD_LIBRARY_PATH, value: /lib', LD_LIBRARY_PATH, /lib",
        "path, 'LD_LIBRARY_PATH, value: \"/a:$(B)\"', LD_LIBRARY_PATH, '/run/sidewarp/verbs:/a:$(B)'",
    })
    void theLibraryComesBeforeAValueOfThePod(String annotation, String entry, String variable, String expected) {
        Pod pod = mutate(
                pod(
                        "sidewarp.io/verbs: " + annotation,
                        "containers: [{name: app, image: a, env: [{name: " + entry + "}]}]"),
                "{}",
                true);

        assertThat(environment(container(pod, "app"))).containsEntry(variable, expected);
    }

    /** The kubelet takes the last one. */
    @Test
    void ofEqualVariablesTheLastOneIsChanged() {
        Pod pod = mutate(
                enabled("containers: [{name: app, image: a, env: [{name: LD_PRELOAD, value: /one.so},"
                        + " {name: LD_PRELOAD, value: /two.so}]}]"),
                "{}",
                true);

        assertThat(container(pod, "app").getEnv())
                .filteredOn(entry -> entry.getName().equals("LD_PRELOAD"))
                .extracting(EnvVar::getValue)
                .containsExactly("/one.so", LIBRARY + ":/two.so");
    }

    @ParameterizedTest
    @CsvSource({"enabled, true", "enabled, false", "path, true", "path, false"})
    void aSecondReviewChangesNothing(String annotation, boolean nativeSidecars) {
        Pod once = mutate(
                pod(
                        "sidewarp.io/verbs: " + annotation,
                        "containers: [{name: app, image: a, env: [{name: LD_PRELOAD, value: /a.so},"
                                + " {name: LD_LIBRARY_PATH, value: /a}]}]"),
                "{}",
                nativeSidecars);

        assertThat(mutate(once, "{}", nativeSidecars)).isEqualTo(once);
    }

    @Test
    void anAnnotationThatCameAfterTheSidecarCounts() {
        Pod once = mutate(pod("", ""), "{}", true);
        once.getMetadata().getAnnotations().put("sidewarp.io/verbs", "enabled");

        Pod again = mutate(once, "{}", true);

        assertThat(names(again.getSpec().getInitContainers())).containsExactly("sidewarp-verbs", "sidewarp");
        assertThat(environment(container(again, "app"))).containsEntry("LD_PRELOAD", LIBRARY);
    }

    @Test
    void theInstallerDoesNotMakeThePodLarger() {
        String resources = "resources: {requests: {cpu: 1, memory: 1Gi}}, containers: [{name: app, image: a,"
                + " resources: {requests: {cpu: 900m, memory: 768Mi}}}]";

        Pod once = mutate(enabled(resources), "{}", true);

        assertThat(decide(once, "{}", true)).isInstanceOf(Inject.class);
    }

    @Test
    void aPodOfTheClassGuaranteedStaysInThisClass() {
        Pod pod = mutate(
                enabled("containers: [{name: app, image: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]"), "{}", true);

        assertThat(PodMutator.containers(pod.getSpec()))
                .filteredOn(PodMutator::isAdded)
                .hasSize(2)
                .allSatisfy(container -> assertThat(container.getResources().getRequests())
                        .containsKeys("cpu", "memory")
                        .isEqualTo(container.getResources().getLimits()));
    }

    @ParameterizedTest
    @MethodSource
    void contradictionsAreRefusedWithWhatToDo(Pod pod, String profile, String message) {
        assertThat(decide(pod, profile, true))
                .isInstanceOfSatisfying(
                        Refuse.class, refuse -> assertThat(refuse.message()).contains(message));
    }

    static Stream<Arguments> contradictionsAreRefusedWithWhatToDo() {
        return Stream.of(
                argumentSet(
                        "unknown value",
                        pod("sidewarp.io/verbs: preload", ""),
                        "{}",
                        "the annotation sidewarp.io/verbs is \"preload\"; it can be \"enabled\", \"path\" or"
                                + " \"disabled\""),
                argumentSet("no value", pod("sidewarp.io/verbs: ''", ""), "{}", "sidewarp.io/verbs is \"\"; it can be"),
                argumentSet(
                        "devices of the profile",
                        enabled(""),
                        "{rnics: 2}",
                        "the annotation sidewarp.io/verbs is for pods without devices, and the sidecar would get 2 of them"
                                + " (SidecarProfile default, annotation sidewarp.io/rnics); set the annotation"
                                + " sidewarp.io/rnics: \"0\""),
                argumentSet(
                        "devices of the annotation",
                        pod("sidewarp.io/verbs: path, sidewarp.io/rnics: '1'", ""),
                        "{}",
                        "the sidecar would get 1 of them"),
                argumentSet(
                        "device of a container",
                        enabled("containers: [{name: app, image: a, resources: {limits: {sidewarp.io/rnic: 1}}}]"),
                        "{}",
                        "container app asks for sidewarp.io/rnic, and with the annotation sidewarp.io/verbs its programs"
                                + " would not see an RDMA device of their own; remove one of the two, or name only other"
                                + " containers in the annotation sidewarp.io/containers"),
                argumentSet(
                        "device of another plugin",
                        enabled("containers: [{name: app, image: a, resources: {requests: {rdma/hca_shared: 1}}}]"),
                        "{}",
                        "container app asks for rdma/hca_shared"),
                argumentSet(
                        "claim of a container",
                        enabled("containers: [{name: app, image: a, resources: {claims: [{name: nic}]}}]"),
                        "{}",
                        "container app asks for the ResourceClaim nic"),
                argumentSet(
                        "variable from elsewhere",
                        enabled("containers: [{name: app, image: a, env: [{name: LD_PRELOAD, valueFrom:"
                                + " {configMapKeyRef: {name: c, key: k}}}]}]"),
                        "{}",
                        "container app takes the variable LD_PRELOAD from valueFrom, which the library cannot be added to;"
                                + " give it a value"),
                argumentSet(
                        "container of that name",
                        enabled("containers: [{name: sidewarp-verbs, image: a}]"),
                        "{}",
                        "a container of its own named sidewarp-verbs; rename it"),
                argumentSet(
                        "volume of that name",
                        enabled("volumes: [{name: sidewarp-verbs, emptyDir: {}}]"),
                        "{}",
                        "a volume of its own named sidewarp-verbs; rename it"),
                argumentSet(
                        "installer as an application",
                        pod(
                                "sidewarp.io/verbs: enabled, sidewarp.io/containers: sidewarp-verbs",
                                "initContainers: [{name: sidewarp-verbs, image: a, volumeMounts: [{name: sidewarp-verbs,"
                                        + " mountPath: /v}]}]"),
                        "{}",
                        "names sidewarp-verbs, which is no container of the pod"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "containers: [{name: app, image: a}, {name: worker, image: b, resources: {limits: {sidewarp.io/rnic: 1}}}]",
                "containers: [{name: app, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]",
                "containers: [{name: app, image: a, env: [{name: LD_LIBRARY_PATH, valueFrom: {fieldRef: {fieldPath:"
                        + " metadata.name}}}]}]",
            })
    void whatDoesNotConcernTheLibraryIsAccepted(String spec) {
        Pod pod = pod("sidewarp.io/verbs: enabled, sidewarp.io/containers: app", spec);

        assertThat(decide(pod, "{}", true)).isInstanceOf(Inject.class);
    }

    @Test
    void theAnnotationRnicsLetsAPodOfAProfileWithDevicesHaveTheLibrary() {
        Pod pod = mutate(pod("sidewarp.io/verbs: enabled, sidewarp.io/rnics: '0'", ""), "{rnics: 2}", true);

        assertThat(environment(container(pod, "app"))).containsEntry("LD_PRELOAD", LIBRARY);
    }

    @Test
    void theAnnotationHasNoEffectWithoutASidecar() {
        assertThat(InjectionRules.decide(enabled(""), NAMESPACE, Map.of(), facts(Map.of())))
                .isInstanceOfSatisfying(
                        Skip.class,
                        skip -> assertThat(skip.warnings())
                                .singleElement()
                                .asString()
                                .contains("sidewarp.io/verbs had no effect"));
    }
}
