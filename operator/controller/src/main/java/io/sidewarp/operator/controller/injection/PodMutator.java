// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EmptyDirVolumeSourceBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarResources;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Adds a sidecar to a pod. Depends on nothing but its arguments, and leaves existing parts of the pod unchanged. A pod
 * that has its sidecar already is returned unchanged. If such a pod got another container since, only the mounts of
 * that container are added.
 */
public final class PodMutator {
    /** Name of the sidecar's container. */
    public static final String SIDECAR = "sidewarp";

    /** Name of the port of the sidecar's health and metrics, which a PodMonitor refers to. */
    public static final String MANAGEMENT_PORT_NAME = "sidewarp-mgmt";

    static final String API_VOLUME = "sidewarp-api";
    static final String TEMPORARY_VOLUME = "sidewarp-tmp";
    static final Set<String> VOLUMES = Set.of(API_VOLUME, PodSharedVolume.NAME, TEMPORARY_VOLUME);

    private static final String OUTLIVE_SESSIONS = "SIDEWARP_ADVANCED_OUTLIVE_SESSIONS";
    private static final Quantity API_VOLUME_SIZE = new Quantity("1Mi");
    private static final Quantity TEMPORARY_VOLUME_SIZE = new Quantity("32Mi");
    static final String TEMPORARY_DIRECTORY = "/tmp";
    private static final String SHARED_DIRECTORY = "/shared";
    private static final String SOCKET = "/api.sock";

    /**
     * Directory of the socket and the regions in the sidecar, independent of their place in applications. A directory
     * of an application could exist in the sidecar's image.
     */
    private static final String HOME = "/run/sidewarp";

    /** Variables that clients read, in any container. */
    private static final String API = "SIDEWARP_API";

    private static final String VOLUME = "SIDEWARP_VOLUME";

    /** Default grace period of a pod, as in the API server. */
    private static final Long DEFAULT_GRACE_SECONDS = 30L;

    /** Time after the drain for the sidecar to close connections and to exit. */
    private static final long LAST_SECONDS = 4;

    /** Upper limit of the setting {@code sidewarp.drain-timeout}. */
    private static final long MAX_DRAIN_SECONDS = 3600;

    private final String image;
    private final String operatorVersion;

    /**
     * Makes a mutator.
     *
     * @param image container image for profiles that name none
     * @param operatorVersion version of the operator for the annotation of the pod
     */
    public PodMutator(String image, String operatorVersion) {
        this.image = image;
        this.operatorVersion = operatorVersion;
    }

    /** Returns a copy of {@code original} with its sidecar. */
    public Pod mutate(Pod original, InjectionDecision.Inject decision) {
        Pod pod = new PodBuilder(original).build();
        boolean injectedBefore = hasSidecar(pod);
        MeshPorts mesh = new MeshPorts(decision.profile());
        annotate(pod, decision, mesh, injectedBefore);
        PodSpec spec = pod.getSpec();
        mesh.extendInitContainers(spec);
        volumes(spec, decision);
        if (!injectedBefore) {
            // A sidecar that is there got its devices in its own way, which another decision does not change.
            decision.claimTemplate().ifPresent(template -> claim(spec, template));
            decision.security()
                    .volume(identity(spec, decision).group())
                    .ifPresent(volume ->
                            spec.setVolumes(withMissing(spec.getVolumes(), List.of(volume), Volume::getName)));
            Container sidecar = sidecar(spec, decision);
            if (decision.nativeSidecar()) {
                // The sidecar is the first init container, so that the pod's own init containers can use it.
                spec.setInitContainers(concat(List.of(sidecar), spec.getInitContainers()));
            } else {
                spec.setContainers(concat(spec.getContainers(), List.of(sidecar)));
            }
        }
        decision.verbs().ifPresent(_ -> installVerbs(spec));
        containers(spec)
                .filter(container -> decision.containers().contains(container.getName()))
                .forEach(container -> connect(container, decision));
        group(spec, identity(spec, decision).group());
        pullSecrets(spec, decision.profile());
        return pod;
    }

    /**
     * Returns whether a pod has its sidecar already. Only the containers tell: annotations and volumes are copied from
     * pods that have a sidecar into templates of pods that have none.
     */
    public static boolean hasSidecar(Pod pod) {
        return containers(pod.getSpec()).anyMatch(PodMutator::isSidecar);
    }

    /** Returns whether a container was added by this class. */
    static boolean isAdded(Container container) {
        return SIDECAR.equals(container.getName()) || VerbsLibrary.isInstaller(container);
    }

    private static boolean isSidecar(Container container) {
        return SIDECAR.equals(container.getName())
                && container.getVolumeMounts().stream()
                        .anyMatch(mount -> API_VOLUME.equals(mount.getName()) && HOME.equals(mount.getMountPath()));
    }

    /** Adds the installer of the verbs library before all containers that use it, and its volume. */
    private static void installVerbs(PodSpec spec) {
        spec.setVolumes(withMissing(
                spec.getVolumes(), List.of(memory(VerbsLibrary.NAME, VerbsLibrary.VOLUME_SIZE)), Volume::getName));
        if (containers(spec).noneMatch(VerbsLibrary::isInstaller)) {
            Container sidecar =
                    containers(spec).filter(PodMutator::isSidecar).findFirst().orElseThrow();
            spec.setInitContainers(concat(
                    List.of(VerbsLibrary.installer(sidecar, HOME + VerbsLibrary.DIRECTORY)), spec.getInitContainers()));
        }
    }

    private static SidecarIdentity identity(PodSpec spec, InjectionDecision.Inject decision) {
        return SidecarIdentity.of(spec, decision.profile(), decision.namespaceAnnotations());
    }

    private void annotate(Pod pod, InjectionDecision.Inject decision, MeshPorts mesh, boolean injectedBefore) {
        ObjectMeta metadata = Optional.ofNullable(pod.getMetadata()).orElseGet(ObjectMeta::new);
        pod.setMetadata(metadata);
        Map<String, String> annotations = copy(metadata.getAnnotations());
        if (!injectedBefore) {
            annotations.put(SidewarpApi.INJECTED, "profile=" + decision.profileName() + ",version=" + operatorVersion);
        }
        decision.networks().ifPresent(networks -> annotations.put(SidewarpApi.NETWORKS, networks));
        annotations.putAll(mesh.annotations(annotations, decision.namespaceAnnotations()));
        metadata.setAnnotations(annotations);
        Map<String, String> labels = copy(metadata.getLabels());
        labels.put(SidewarpApi.SIDECAR_LABEL, "true");
        metadata.setLabels(labels);
    }

    private static void volumes(PodSpec spec, InjectionDecision.Inject decision) {
        List<Volume> ours = List.of(
                memory(API_VOLUME, API_VOLUME_SIZE),
                memory(PodSharedVolume.NAME, decision.sharedMemory()),
                memory(TEMPORARY_VOLUME, TEMPORARY_VOLUME_SIZE));
        spec.setVolumes(withMissing(spec.getVolumes(), ours, Volume::getName));
    }

    private static void claim(PodSpec spec, String template) {
        PodResourceClaim ours = new PodResourceClaimBuilder()
                .withName(PodClaim.NAME)
                .withResourceClaimTemplateName(template)
                .build();
        spec.setResourceClaims(withMissing(spec.getResourceClaims(), List.of(ours), PodResourceClaim::getName));
    }

    /** Returns present entries and those of ours whose keys no present entry has. */
    private static <T, K> List<T> withMissing(List<T> present, List<T> ours, Function<T, K> key) {
        List<T> all = new ArrayList<>(present);
        for (T entry : ours) {
            if (all.stream().noneMatch(other -> Objects.equals(key.apply(other), key.apply(entry)))) {
                all.add(entry);
            }
        }
        return all;
    }

    private static Volume memory(String name, Quantity size) {
        return new VolumeBuilder()
                .withName(name)
                .withEmptyDir(new EmptyDirVolumeSourceBuilder()
                        .withMedium(PodSharedVolume.MEMORY)
                        .withSizeLimit(size)
                        .build())
                .build();
    }

    private Container sidecar(PodSpec spec, InjectionDecision.Inject decision) {
        SidecarProfileSpec profile = decision.profile();
        SidecarIdentity identity = identity(spec, decision);
        ContainerBuilder builder = new ContainerBuilder()
                .withName(SIDECAR)
                .withImage(Objects.requireNonNullElse(profile.image(), image))
                .withEnv(environment(spec, decision))
                .withResources(resources(spec, decision))
                .withVolumeMounts(
                        mount(API_VOLUME, HOME),
                        mount(PodSharedVolume.NAME, HOME + SHARED_DIRECTORY),
                        mount(TEMPORARY_VOLUME, TEMPORARY_DIRECTORY))
                .addNewPort()
                .withName(MANAGEMENT_PORT_NAME)
                .withContainerPort(profile.managementPort())
                .withProtocol("TCP")
                .endPort()
                // The sidecar writes to its log why it does not start.
                .withTerminationMessagePolicy("FallbackToLogsOnError")
                .withStartupProbe(startupProbe(profile))
                .withReadinessProbe(probe(profile, "/q/health/ready", 5, 3))
                .withLivenessProbe(probe(profile, "/q/health/live", 10, 3))
                .withNewSecurityContext()
                .withRunAsUser(identity.user())
                .withRunAsGroup(identity.group())
                .withRunAsNonRoot(true)
                .withReadOnlyRootFilesystem(true)
                .withAllowPrivilegeEscalation(false)
                .withNewCapabilities()
                .withDrop("ALL")
                .endCapabilities()
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .endSecurityContext();
        if (decision.security().source().isPresent()) {
            builder.addNewVolumeMount()
                    .withName(PeerSecurity.VOLUME)
                    .withMountPath(PeerSecurity.DIRECTORY)
                    .withReadOnly(true)
                    .endVolumeMount();
        }
        if (profile.imagePullPolicy() != null) {
            builder.withImagePullPolicy(profile.imagePullPolicy().value());
        }
        if (decision.nativeSidecar()) {
            builder.withRestartPolicy("Always");
        }
        return builder.build();
    }

    private static List<EnvVar> environment(PodSpec spec, InjectionDecision.Inject decision) {
        SidecarProfileSpec profile = decision.profile();
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("SIDEWARP_API_SOCKET", HOME + SOCKET);
        variables.put("SIDEWARP_SHARED_VOLUME", HOME + SHARED_DIRECTORY);
        // Variables for the command line tool in the sidecar's image.
        variables.put(API, apiIn(HOME));
        variables.put(VOLUME, HOME + SHARED_DIRECTORY);
        variables.put("SIDEWARP_MANAGEMENT_HOST", "0.0.0.0");
        variables.put("SIDEWARP_MANAGEMENT_PORT", Integer.toString(profile.managementPort()));
        variables.put("QUARKUS_LOG_LEVEL", profile.logLevel().name());
        if (profile.otlpEndpoint() != null) {
            variables.put("OTEL_TRACES_EXPORTER", "otlp");
            variables.put("OTEL_METRICS_EXPORTER", "otlp");
            variables.put("OTEL_EXPORTER_OTLP_ENDPOINT", profile.otlpEndpoint());
            variables.put(
                    "OTEL_RESOURCE_ATTRIBUTES",
                    "k8s.pod.name=$(POD_NAME),k8s.namespace.name=$(POD_NAMESPACE),k8s.node.name=$(NODE_NAME)");
        }
        if (!decision.nativeSidecar()) {
            // An ordinary container gets SIGTERM together with the applications, which still need the sidecar.
            variables.put(OUTLIVE_SESSIONS, "true");
        }
        new TreeMap<>(decision.security().settings()).forEach((name, value) -> variables.put(variableOf(name), value));
        new TreeMap<>(profile.settings()).forEach((name, value) -> variables.put(variableOf(name), value));
        if ("true".equals(variables.get(OUTLIVE_SESSIONS))) {
            // The kubelet would kill a sidecar that drains for longer.
            variables.put("SIDEWARP_DRAIN_TIMEOUT", drainSeconds(spec) + "s");
        }

        List<EnvVar> environment = new ArrayList<>();
        environment.add(field("POD_NAME", "metadata.name"));
        environment.add(field("POD_NAMESPACE", "metadata.namespace"));
        environment.add(field("NODE_NAME", "spec.nodeName"));
        variables.forEach((name, value) -> environment.add(new EnvVar(name, value, null)));
        return environment;
    }

    /** Returns the seconds for which the sidecar may drain, so that it ends before the kubelet kills it. */
    private static long drainSeconds(PodSpec spec) {
        long grace = Objects.requireNonNullElse(spec.getTerminationGracePeriodSeconds(), DEFAULT_GRACE_SECONDS);
        return Math.clamp(grace - LAST_SECONDS, 0, MAX_DRAIN_SECONDS);
    }

    /** Returns the name of the environment variable of a setting. */
    static String variableOf(String setting) {
        return setting.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    private static EnvVar field(String name, String path) {
        return new EnvVarBuilder()
                .withName(name)
                .withNewValueFrom()
                .withNewFieldRef()
                .withFieldPath(path)
                .endFieldRef()
                .endValueFrom()
                .build();
    }

    private static ResourceRequirements resources(PodSpec spec, InjectionDecision.Inject decision) {
        SidecarResources sidecar = decision.profile().resources();
        Map<String, Quantity> requests = new TreeMap<>(sidecar.requests());
        Map<String, Quantity> limits =
                PodResources.limitsOfSidecar(spec, sidecar, PodSharedVolume.memory(spec, decision.sharedMemory()));
        if (PodResources.isGuaranteed(spec)) {
            PodResources.makeGuaranteed(requests, limits, PodSharedVolume.memory(spec, decision.sharedMemory()));
        }
        ResourceRequirementsBuilder builder = new ResourceRequirementsBuilder();
        if (decision.claimTemplate().isPresent()) {
            builder.addNewClaim().withName(PodClaim.NAME).endClaim();
        } else if (decision.rnics() > 0) {
            Quantity count = new Quantity(Integer.toString(decision.rnics()));
            requests.put(decision.rnicResource(), count);
            limits.put(decision.rnicResource(), count);
        }
        return builder.withRequests(requests).withLimits(limits).build();
    }

    /**
     * The kubelet writes an event for each probe that fails, and a sidecar takes 1 s to 2 s to start. It has 60 s,
     * because a node may start many pods at once.
     */
    private static Probe startupProbe(SidecarProfileSpec profile) {
        Probe probe = probe(profile, "/q/health/ready", 1, 60);
        probe.setInitialDelaySeconds(2);
        return probe;
    }

    private static Probe probe(SidecarProfileSpec profile, String path, int periodSeconds, int failureThreshold) {
        return new ProbeBuilder()
                .withNewHttpGet()
                .withPath(path)
                .withNewPort(profile.managementPort())
                .endHttpGet()
                .withPeriodSeconds(periodSeconds)
                .withTimeoutSeconds(Math.min(periodSeconds, 3))
                .withFailureThreshold(failureThreshold)
                .build();
    }

    /**
     * Gives an application's container the API socket, the shared regions, the environment that clients read, and the
     * verbs library if the pod asks for it.
     */
    private static void connect(Container container, InjectionDecision.Inject decision) {
        SidecarProfileSpec profile = decision.profile();
        List<VolumeMount> mounts = new ArrayList<>(container.getVolumeMounts());
        for (VolumeMount mount : List.of(
                mount(API_VOLUME, profile.mountPath()),
                mount(PodSharedVolume.NAME, profile.mountPath() + SHARED_DIRECTORY))) {
            if (placeOf(mount.getName(), mounts).isEmpty()) {
                mounts.add(mount);
            }
        }
        container.setVolumeMounts(mounts);
        String api = apiIn(placeOf(API_VOLUME, mounts).orElseThrow());
        String regions = placeOf(PodSharedVolume.NAME, mounts).orElseThrow();
        List<EnvVar> ours = List.of(new EnvVar(API, api, null), new EnvVar(VOLUME, regions, null));
        container.setEnv(withMissing(container.getEnv(), ours, EnvVar::getName));
        decision.verbs().ifPresent(library -> library.addTo(container, profile.mountPath() + VerbsLibrary.DIRECTORY));
    }

    /** Returns the path at which a container mounts a volume as a whole. */
    static Optional<String> placeOf(String volume, List<VolumeMount> mounts) {
        return mounts.stream()
                .filter(mount -> mount.getName().equals(volume) && isWhole(mount))
                .map(VolumeMount::getMountPath)
                .findFirst();
    }

    /**
     * Returns whether the volume is mounted as a whole. The socket and the regions are not in subdirectories of the
     * volume.
     */
    static boolean isWhole(VolumeMount mount) {
        return mount.getSubPath() == null && mount.getSubPathExpr() == null;
    }

    private static String apiIn(String directory) {
        return "unix://" + directory + SOCKET;
    }

    private static VolumeMount mount(String volume, String path) {
        return new VolumeMountBuilder().withName(volume).withMountPath(path).build();
    }

    /**
     * Adds the sidecar's group to all containers, which have {@code fsGroup} already. The socket and the regions belong
     * to this group, with mode 0660.
     */
    private static void group(PodSpec spec, Long group) {
        PodSecurityContext context =
                Optional.ofNullable(spec.getSecurityContext()).orElseGet(PodSecurityContext::new);
        if (group.equals(context.getFsGroup())) {
            return;
        }
        context.setSupplementalGroups(
                withMissing(context.getSupplementalGroups(), List.of(group), Function.identity()));
        spec.setSecurityContext(context);
    }

    private static void pullSecrets(PodSpec spec, SidecarProfileSpec profile) {
        List<LocalObjectReference> ours = profile.imagePullSecrets().stream()
                .map(LocalObjectReference::new)
                .toList();
        spec.setImagePullSecrets(withMissing(spec.getImagePullSecrets(), ours, LocalObjectReference::getName));
    }

    /** Returns all containers of a pod, init containers first. */
    static Stream<Container> containers(PodSpec spec) {
        return concat(spec.getInitContainers(), spec.getContainers()).stream();
    }

    private static List<Container> concat(List<Container> first, List<Container> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    private static Map<String, String> copy(@Nullable Map<String, String> map) {
        return map == null ? new HashMap<>() : new LinkedHashMap<>(map);
    }
}
