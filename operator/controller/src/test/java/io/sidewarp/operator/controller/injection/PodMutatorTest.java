// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.SecurityContext;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PodMutatorTest {
    private static final PodMutator MUTATOR = new PodMutator("example/sidecar:1", "1.0");
    private static final String SIMPLE = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: app, image: a}]}}";
    private static final String RICH = """
            apiVersion: v1
            kind: Pod
            metadata:
              labels: {app: shop}
              annotations: {}
            spec:
              futureField: {kept: true}
              securityContext: {supplementalGroups: [5], fsGroup: 6}
              imagePullSecrets: [{name: mine}]
              initContainers:
              - {name: setup, image: s}
              containers:
              - {name: app, image: a, env: [{name: SIDEWARP_API, value: mine}], volumeMounts: [{name: data, mountPath: /data}]}
              - {name: worker, image: w}
              volumes:
              - {name: data, emptyDir: {}}
            """;

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
                Map.of());

        Pod pod = MUTATOR.mutate(parse(SIMPLE), decision);

        assertThat(pod.getMetadata().getAnnotations())
                .containsEntry("k8s.v1.cni.cncf.io/networks", "default/e810,default/e810");
        assertThat(sidecar(pod).getResources().getLimits())
                .containsEntry("openshift.io/sidewarp_e810", new Quantity("2"))
                .doesNotContainKey("sidewarp.io/rnic");
    }

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
                Map.of());

        Container sidecar = sidecar(MUTATOR.mutate(parse(SIMPLE), decision));

        assertThat(sidecar.getResources().getLimits()).containsEntry("memory", new Quantity("5Gi"));
        assertThat(sidecar.getResources().getRequests()).containsEntry("memory", new Quantity("256Mi"));
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

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            nullValues = "-",
            value = {
                // profile; annotation; value of the pod; value of the namespace; expected
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; -; -; 9464,7471,7472",
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; 8080, 7471; -; 8080,7471,9464,7472",
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; *; -; *",
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; -; 80; 9464,7471,7472",
                "{}; traffic.sidecar.istio.io/excludeOutboundPorts; -; -; 7471,7472",
                "{}; config.linkerd.io/skip-inbound-ports; -; -; 4567,4568,9464,7471,7472",
                "{}; config.linkerd.io/skip-inbound-ports; 7000-8000; 80; 7000-8000,9464",
                "{}; config.linkerd.io/skip-outbound-ports; -; 80; 80,7471,7472",
                "{rdmaPorts: [18515], managementPort: 9465}; config.linkerd.io/skip-inbound-ports; 25; -; 25,9465,18515",
                "{rdmaPorts: []}; traffic.sidecar.istio.io/excludeOutboundPorts; -; -; -",
            })
    void theProxyOfAMeshLeavesProbesAndRdmaAlone(
            String profile, String annotation, String ofPod, String ofNamespace, String expected) {
        Pod original = parse(RICH);
        original.getMetadata().setAnnotations(ofPod == null ? Map.of() : Map.of(annotation, ofPod));

        Pod pod = MUTATOR.mutate(
                original, inject(profile, true, 0, ofNamespace == null ? Map.of() : Map.of(annotation, ofNamespace)));

        assertThat(pod.getMetadata().getAnnotations().get(annotation)).isEqualTo(expected);
    }

    /** Injectors of meshes run before this webhook, and do not read annotations of later webhooks. */
    @Test
    void theInitContainerOfAMeshIsTold() {
        Pod pod = MUTATOR.mutate(parse("""
                apiVersion: v1
                kind: Pod
                spec:
                  initContainers:
                  - {name: istio-init, image: i, args: [istio-iptables, -b, '*', -d, '15090,15021,15020', --log_as_json]}
                  - {name: linkerd-init, image: l, args: [--inbound-ports-to-ignore, '4190,7471', --outbound-ports-to-ignore, '4567']}
                  - {name: setup, image: s, args: [-d, '1']}
                  containers: [{name: app, image: a}]
                """), inject("{}", true, 0));

        assertThat(container(pod, "istio-init").getArgs())
                .containsExactly(
                        "istio-iptables",
                        "-b",
                        "*",
                        "-d",
                        "15090,15021,15020,9464,7471,7472",
                        "--log_as_json",
                        "-o",
                        "7471,7472");
        assertThat(container(pod, "linkerd-init").getArgs())
                .containsExactly(
                        "--inbound-ports-to-ignore",
                        "4190,7471,9464,7472",
                        "--outbound-ports-to-ignore",
                        "4567,7471,7472");
        assertThat(container(pod, "setup").getArgs()).containsExactly("-d", "1");
        assertThat(MUTATOR.mutate(pod, inject("{}", true, 0))).isEqualTo(pod);
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

    private static Pod parse(String yaml) {
        return Yaml.parse(yaml, Pod.class);
    }

    private static SidecarProfileSpec profile(String yaml) {
        return Yaml.parse(yaml, SidecarProfileSpec.class);
    }

    private static Inject inject(String profile, boolean nativeSidecar, int rnics) {
        return inject(profile, nativeSidecar, rnics, Map.of());
    }

    private static Inject inject(
            String profile, boolean nativeSidecar, int rnics, Map<String, String> namespaceAnnotations) {
        SidecarProfileSpec spec = profile(profile);
        return new Inject(
                "p",
                spec,
                Set.of("app", "worker"),
                rnics,
                Optional.empty(),
                "sidewarp.io/rnic",
                Optional.empty(),
                spec.sharedMemory(),
                nativeSidecar,
                namespaceAnnotations);
    }

    private static Container sidecar(Pod pod) {
        return container(pod, "sidewarp");
    }

    private static Container container(Pod pod, String name) {
        return Stream.of(pod.getSpec().getInitContainers(), pod.getSpec().getContainers())
                .flatMap(List::stream)
                .filter(container -> container.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, String> mounts(Pod pod, String container) {
        return container(pod, container).getVolumeMounts().stream()
                .collect(Collectors.toMap(mount -> mount.getName(), mount -> mount.getMountPath()));
    }

    private static Map<String, String> environment(Container container) {
        return container.getEnv().stream()
                .collect(Collectors.toMap(
                        EnvVar::getName,
                        variable -> Optional.ofNullable(variable.getValue()).orElse("")));
    }
}
