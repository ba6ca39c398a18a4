// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.MutatedPods.MUTATOR;
import static io.sidewarp.operator.controller.injection.MutatedPods.RICH;
import static io.sidewarp.operator.controller.injection.MutatedPods.SIMPLE;
import static io.sidewarp.operator.controller.injection.MutatedPods.container;
import static io.sidewarp.operator.controller.injection.MutatedPods.environment;
import static io.sidewarp.operator.controller.injection.MutatedPods.inject;
import static io.sidewarp.operator.controller.injection.MutatedPods.mounts;
import static io.sidewarp.operator.controller.injection.MutatedPods.parse;
import static io.sidewarp.operator.controller.injection.MutatedPods.sidecar;
import static io.sidewarp.operator.controller.injection.TestPods.profile;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponse;
import io.fabric8.zjsonpatch.JsonPatch;
import io.javaoperatorsdk.webhook.admission.AdmissionUtils;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PodMutatorTest {
    @Test
    void aNativeSidecarIsTheFirstInitContainerAndKeepsRunning() {
        Pod pod = MUTATOR.mutate(parse(RICH), inject("{}", true, 0));

        assertThat(pod.getSpec().getInitContainers())
                .extracting(Container::getName)
                .containsExactly("sidewarp", "setup");
        assertThat(pod.getSpec().getInitContainers().getFirst().getRestartPolicy())
                .isEqualTo("Always");
        assertThat(pod.getSpec().getContainers()).extracting(Container::getName).containsExactly("app", "worker");
    }

    @Test
    void anOrdinarySidecarIsTheLastContainer() {
        Pod pod = MUTATOR.mutate(parse(RICH), inject("{}", false, 0));

        assertThat(pod.getSpec().getContainers())
                .extracting(Container::getName)
                .containsExactly("app", "worker", "sidewarp");
        assertThat(sidecar(pod).getRestartPolicy()).isNull();
    }

    @Test
    void allVolumesAreInMemoryAndBounded() {
        Pod pod = MUTATOR.mutate(parse(SIMPLE), inject("{sharedMemory: 3Gi}", true, 0));

        assertThat(pod.getSpec().getVolumes())
                .extracting(Volume::getName)
                .containsExactly("sidewarp-api", "sidewarp-shared", "sidewarp-tmp");
        assertThat(pod.getSpec().getVolumes()).allSatisfy(volume -> {
            assertThat(volume.getEmptyDir().getMedium()).isEqualTo("Memory");
            assertThat(volume.getEmptyDir().getSizeLimit()).isNotNull();
        });
        assertThat(pod.getSpec().getVolumes().get(1).getEmptyDir().getSizeLimit())
                .hasToString("3Gi");
    }

    @Test
    void aPodKeepsItsOwnSharedVolumeWhichMayBeOfHugePages() {
        Pod original = parse(SIMPLE);
        original.getSpec()
                .setVolumes(List.of(new VolumeBuilder()
                        .withName("sidewarp-shared")
                        .withNewEmptyDir()
                        .withMedium("HugePages-2Mi")
                        .endEmptyDir()
                        .build()));

        Pod pod = MUTATOR.mutate(original, inject("{resources: {limits: {hugepages-2Mi: 1Gi}}}", true, 0));

        assertThat(pod.getSpec().getVolumes())
                .filteredOn(volume -> volume.getName().equals("sidewarp-shared"))
                .singleElement()
                .satisfies(
                        volume -> assertThat(volume.getEmptyDir().getMedium()).isEqualTo("HugePages-2Mi"));
        assertThat(mounts(pod, "app")).containsEntry("sidewarp-shared", "/run/sidewarp/shared");
        assertThat(sidecar(pod).getResources().getLimits()).containsEntry("hugepages-2Mi", new Quantity("1Gi"));
    }

    @Test
    void aContainerThatMountsItsOwnSharedVolumeElsewhereFindsTheRegionsThere() {
        Pod original = parse("""
                {apiVersion: v1, kind: Pod, spec: {
                  containers: [{name: app, image: x, volumeMounts: [{name: sidewarp-shared, mountPath: /hugepages}]}],
                  volumes: [{name: sidewarp-shared, emptyDir: {medium: Memory}}]}}
                """);

        Pod pod = MUTATOR.mutate(original, inject("{}", true, 0));

        assertThat(mounts(pod, "app"))
                .containsEntry("sidewarp-shared", "/hugepages")
                .containsEntry("sidewarp-api", "/run/sidewarp");
        assertThat(environment(container(pod, "app"))).containsEntry("SIDEWARP_VOLUME", "/hugepages");
        assertThat(mounts(pod, "sidewarp")).containsEntry("sidewarp-shared", "/run/sidewarp/shared");
    }

    @Test
    void aContainerThatMountsTheSocketElsewhereFindsItThere() {
        Pod pod = MUTATOR.mutate(parse("""
                {apiVersion: v1, kind: Pod, spec: {
                  containers: [{name: app, image: x, volumeMounts: [{name: sidewarp-api, mountPath: /api}]}]}}
                """), inject("{}", true, 0));

        assertThat(mounts(pod, "app")).containsEntry("sidewarp-api", "/api");
        assertThat(environment(container(pod, "app"))).containsEntry("SIDEWARP_API", "unix:///api/api.sock");
    }

    @ParameterizedTest
    @ValueSource(strings = {"subPath: mine", "subPathExpr: $(MINE)"})
    void aDirectoryOfTheSharedVolumeDoesNotHaveTheRegions(String part) {
        Pod pod = MUTATOR.mutate(parse("""
                {apiVersion: v1, kind: Pod, spec: {
                  containers: [{name: app, image: x, volumeMounts: [{name: sidewarp-shared, mountPath: /mine, %s}]}],
                  volumes: [{name: sidewarp-shared, emptyDir: {medium: Memory}}]}}
                """.formatted(part)), inject("{}", true, 0));

        assertThat(container(pod, "app").getVolumeMounts())
                .extracting(VolumeMount::getMountPath)
                .containsExactly("/mine", "/run/sidewarp", "/run/sidewarp/shared");
        assertThat(environment(container(pod, "app"))).containsEntry("SIDEWARP_VOLUME", "/run/sidewarp/shared");
    }

    /** The sidecar's image has its programs there. */
    @Test
    void aDirectoryOfApplicationsHidesNothingOfTheSidecar() {
        Pod pod = MUTATOR.mutate(parse(SIMPLE), inject("{mountPath: /opt/sidewarp}", true, 0));

        assertThat(mounts(pod, "app"))
                .containsEntry("sidewarp-api", "/opt/sidewarp")
                .containsEntry("sidewarp-shared", "/opt/sidewarp/shared");
        assertThat(mounts(pod, "sidewarp"))
                .containsEntry("sidewarp-api", "/run/sidewarp")
                .containsEntry("sidewarp-shared", "/run/sidewarp/shared");
        assertThat(environment(sidecar(pod)))
                .containsEntry("SIDEWARP_API_SOCKET", "/run/sidewarp/api.sock")
                .containsEntry("SIDEWARP_SHARED_VOLUME", "/run/sidewarp/shared")
                .containsEntry("SIDEWARP_API", "unix:///run/sidewarp/api.sock")
                .containsEntry("SIDEWARP_VOLUME", "/run/sidewarp/shared");
    }

    @Test
    void onlyChosenContainersGetTheSocketAndTheRegions() {
        Inject decision = new Inject(
                "p",
                profile("{mountPath: /opt/rdma}"),
                Set.of("worker"),
                0,
                Optional.empty(),
                "sidewarp.io/rnic",
                Optional.empty(),
                new Quantity("1Gi"),
                true,
                Optional.empty(),
                PeerSecurity.NONE,
                Map.of());

        Pod pod = MUTATOR.mutate(parse(RICH), decision);

        assertThat(mounts(pod, "worker"))
                .containsEntry("sidewarp-api", "/opt/rdma")
                .containsEntry("sidewarp-shared", "/opt/rdma/shared");
        assertThat(mounts(pod, "app")).containsOnlyKeys("data");
        assertThat(mounts(pod, "setup")).isEmpty();
        assertThat(environment(container(pod, "worker")))
                .containsEntry("SIDEWARP_API", "unix:///opt/rdma/api.sock")
                .containsEntry("SIDEWARP_VOLUME", "/opt/rdma/shared");
    }

    @Test
    void whatTheAuthorWroteIsKept() {
        Pod pod = MUTATOR.mutate(parse(RICH), inject("{imagePullSecrets: [mine, ours]}", true, 0));

        assertThat(environment(container(pod, "app"))).containsEntry("SIDEWARP_API", "mine");
        assertThat(pod.getSpec().getSecurityContext().getSupplementalGroups()).containsExactly(5L);
        assertThat(pod.getSpec().getSecurityContext().getFsGroup()).isEqualTo(6);
        assertThat(pod.getSpec().getImagePullSecrets()).extracting("name").containsExactly("mine", "ours");
        assertThat(pod.getSpec().getAdditionalProperties()).containsKey("futureField");
        assertThat(pod.getMetadata().getLabels())
                .containsEntry("app", "shop")
                .containsEntry("sidewarp.io/sidecar", "true");
    }

    @Test
    void devicesOfANetworkAreAskedForWithIt() {
        SidecarProfileSpec profile = profile("{}");
        Inject decision = new Inject(
                "p",
                profile,
                Set.of("app"),
                2,
                Optional.of("default/e810,default/e810"),
                "openshift.io/sidewarp_e810",
                Optional.empty(),
                profile.sharedMemory(),
                true,
                Optional.empty(),
                PeerSecurity.NONE,
                Map.of());

        Pod pod = MUTATOR.mutate(parse(SIMPLE), decision);

        assertThat(pod.getMetadata().getAnnotations())
                .containsEntry("k8s.v1.cni.cncf.io/networks", "default/e810,default/e810");
        assertThat(sidecar(pod).getResources().getLimits())
                .containsEntry("openshift.io/sidewarp_e810", new Quantity("2"))
                .doesNotContainKey("sidewarp.io/rnic");
    }

    @Test
    void settingsBecomeEnvironmentVariables() {
        Container sidecar = sidecar(MUTATOR.mutate(
                parse(SIMPLE),
                inject(
                        "{logLevel: DEBUG, otlpEndpoint: 'http://c:4317', settings: {sidewarp.advanced.sctp.rto-min: 50ms}}",
                        true,
                        0)));

        assertThat(environment(sidecar))
                .containsEntry("SIDEWARP_ADVANCED_SCTP_RTO_MIN", "50ms")
                .containsEntry("QUARKUS_LOG_LEVEL", "DEBUG")
                .containsEntry("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317")
                .containsEntry("SIDEWARP_API", "unix:///run/sidewarp/api.sock")
                .containsEntry("SIDEWARP_VOLUME", "/run/sidewarp/shared")
                .containsEntry("SIDEWARP_API_SOCKET", "/run/sidewarp/api.sock")
                .containsEntry("SIDEWARP_MANAGEMENT_HOST", "0.0.0.0");
    }

    @ParameterizedTest
    @CsvSource({"{}, 9464", "{managementPort: 9465}, 9465"})
    void healthAndMetricsAreAtTheProfilesPort(String profile, int port) {
        Container sidecar = sidecar(MUTATOR.mutate(parse(SIMPLE), inject(profile, true, 0)));

        assertThat(sidecar.getPorts()).singleElement().satisfies(only -> {
            assertThat(only.getName()).isEqualTo("sidewarp-mgmt");
            assertThat(only.getContainerPort()).isEqualTo(port);
        });
        assertThat(List.of(sidecar.getStartupProbe(), sidecar.getReadinessProbe(), sidecar.getLivenessProbe()))
                .allSatisfy(probe ->
                        assertThat(probe.getHttpGet().getPort().getIntVal()).isEqualTo(port));
        assertThat(environment(sidecar)).containsEntry("SIDEWARP_MANAGEMENT_PORT", Integer.toString(port));
    }

    @Test
    void aProfileCanBringItsOwnImage() {
        assertThat(sidecar(MUTATOR.mutate(parse(SIMPLE), inject("{}", true, 0))).getImage())
                .isEqualTo("example/sidecar:1");
        Container own =
                sidecar(MUTATOR.mutate(parse(SIMPLE), inject("{image: x/y:2, imagePullPolicy: Always}", true, 0)));
        assertThat(own.getImage()).isEqualTo("x/y:2");
        assertThat(own.getImagePullPolicy()).isEqualTo("Always");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSecondTimeNothingChanges(boolean nativeSidecar) {
        Inject decision = inject("{imagePullSecrets: [ours]}", nativeSidecar, 1);
        Pod once = MUTATOR.mutate(parse(RICH), decision);

        assertThat(MUTATOR.mutate(once, decision)).isEqualTo(once);
    }

    @Test
    void theAnnotationOfAnotherPodIsReplaced() {
        Pod original = parse(RICH);
        original.getMetadata().setAnnotations(Map.of("sidewarp.io/injected", "profile=other,version=0.1"));

        Pod pod = MUTATOR.mutate(original, inject("{}", true, 0));

        assertThat(pod.getMetadata().getAnnotations()).containsEntry("sidewarp.io/injected", "profile=p,version=1.0");
        assertThat(sidecar(pod).getImage()).isEqualTo("example/sidecar:1");
    }

    @Test
    void theKubeletProbesASidecarThatHadTimeToStart() {
        Container sidecar = sidecar(MUTATOR.mutate(parse(SIMPLE), inject("{}", true, 0)));

        assertThat(sidecar.getStartupProbe().getInitialDelaySeconds()).isEqualTo(2);
        assertThat(sidecar.getStartupProbe().getPeriodSeconds()
                        * sidecar.getStartupProbe().getFailureThreshold())
                .isGreaterThanOrEqualTo(60);
    }

    @Test
    void theReasonOfAnExitIsInTheStatusOfThePod() {
        assertThat(sidecar(MUTATOR.mutate(parse(SIMPLE), inject("{}", true, 0))).getTerminationMessagePolicy())
                .isEqualTo("FallbackToLogsOnError");
    }

    @Test
    void aContainerThatCameLaterGetsTheMountsToo() {
        Pod once = MUTATOR.mutate(parse(SIMPLE), inject("{}", true, 0));
        once.getSpec().getContainers().add(Yaml.parse("{name: late, image: l}", Container.class));
        Inject again = new Inject(
                "p",
                profile("{}"),
                Set.of("app", "late"),
                0,
                Optional.empty(),
                "sidewarp.io/rnic",
                Optional.empty(),
                new Quantity("1Gi"),
                true,
                Optional.empty(),
                PeerSecurity.NONE,
                Map.of());

        assertThat(mounts(MUTATOR.mutate(once, again), "late")).containsKeys("sidewarp-api", "sidewarp-shared");
    }

    @Test
    void theOriginalIsNotTouched() {
        Pod original = parse(RICH);

        MUTATOR.mutate(original, inject("{}", true, 1));

        assertThat(original).isEqualTo(parse(RICH));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                SIMPLE,
                RICH,
                "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: app, image: a}],"
                        + " volumes: [], initContainers: []}}"
            })
    void thePatchMakesOfTheSentPodWhatWasMeant(String yaml) throws IOException {
        Pod original = parse(yaml);
        Pod mutated = MUTATOR.mutate(original, inject("{}", true, 1));
        ObjectMapper mapper = new ObjectMapper();

        AdmissionResponse response = AdmissionUtils.admissionResponseFromMutation(original, mutated);

        // The API server applies the patch to what its client sent, and not to what our classes make of it.
        JsonNode sent = mapper.valueToTree(Yaml.parse(yaml, Map.class));
        JsonNode patch = mapper.readTree(Base64.getDecoder().decode(response.getPatch()));
        JsonNode applied = JsonPatch.apply(patch, sent);
        assertThat(mapper.treeToValue(applied, Pod.class)).isEqualTo(mutated);
        assertThat(response.getPatchType()).isEqualTo("JSONPatch");
        assertThat(patch)
                .noneSatisfy(
                        operation -> assertThat(operation.get("op").asText()).isEqualTo("remove"));
    }
}
