// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.CONTAINERS;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNICS;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.VERBS;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceClaim;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Ways in which programs of a pod find the library that stands in for libibverbs and librdmacm. An init container, the
 * installer, copies the library from the sidecar's image into a volume. It runs before all containers of the pod.
 */
public enum VerbsLibrary {
    /** The loader takes the library before the libraries of the same functions in the image. */
    PRELOADED("enabled", "LD_PRELOAD", "/libsidewarp-verbs.so"),

    /** The loader finds libibverbs.so.1 and librdmacm.so.1 here first, also for programs that open them at run time. */
    ON_PATH("path", "LD_LIBRARY_PATH", "");

    /** Values of the annotation that give containers the library, for messages. */
    static final String VALUES =
            Arrays.stream(values()).map(mode -> Excerpt.quoted(mode.value)).collect(Collectors.joining(", "));

    /** Name of the installer and of the volume. */
    static final String NAME = "sidewarp-verbs";

    /** Directory of the library, below the directory of the API socket. */
    static final String DIRECTORY = "/verbs";

    static final Quantity VOLUME_SIZE = new Quantity("8Mi");

    /** Program in the sidecar's image that copies the library. The test of the images calls it. */
    private static final String INSTALLER = "/opt/sidewarp/bin/sidewarp-verbs";

    /** Beginning of the resources of the RDMA shared device plugin. */
    private static final String RDMA_RESOURCES = "rdma/";

    private final String value;
    private final String variable;
    private final String file;

    VerbsLibrary(String value, String variable, String file) {
        this.value = value;
        this.variable = variable;
        this.file = file;
    }

    /** Returns the way that a value of the annotation names. */
    static Optional<VerbsLibrary> of(String annotation) {
        return Arrays.stream(values())
                .filter(library -> library.value.equals(annotation))
                .findFirst();
    }

    /**
     * Returns why the containers cannot have the library, and what to do. Empty if they can. The library stands in for
     * an RDMA device, so a pod that asks for a device is refused. Which device the pod gets is unknown at admission.
     *
     * @param containers names of the containers that get the library
     * @param rnics number of devices that the pod requests for its sidecar
     */
    Optional<String> whatIsWrong(PodSpec spec, Set<String> containers, int rnics, String profileName) {
        if (rnics > 0) {
            return Optional.of("the annotation " + VERBS + " is for pods without devices, and the sidecar would get "
                    + rnics + " of them (SidecarProfile " + profileName + ", annotation " + RNICS
                    + "); set the annotation " + RNICS + ": \"0\", or remove the annotation " + VERBS);
        }
        if (PodMutator.containers(spec)
                .anyMatch(container -> NAME.equals(container.getName()) && !isInstaller(container))) {
            return Optional.of("the pod has a container of its own named " + NAME
                    + "; rename it, or remove the annotation " + VERBS);
        }
        boolean installed = PodMutator.containers(spec).anyMatch(VerbsLibrary::isInstaller);
        if (!installed && spec.getVolumes().stream().anyMatch(volume -> NAME.equals(volume.getName()))) {
            return Optional.of(
                    "the pod has a volume of its own named " + NAME + "; rename it, or remove the annotation " + VERBS);
        }
        return PodMutator.containers(spec)
                .filter(container -> containers.contains(container.getName()))
                .flatMap(container -> Stream.concat(device(container).stream(), unknownValue(container).stream())
                        .map(wrong -> "container " + Excerpt.of(container.getName()) + " " + wrong))
                .findFirst();
    }

    private static Optional<String> device(Container container) {
        Optional<ResourceRequirements> resources = Optional.ofNullable(container.getResources());
        Stream<String> requested = resources.stream()
                .flatMap(all -> Stream.of(all.getLimits(), all.getRequests()))
                .filter(Objects::nonNull)
                .flatMap(amounts -> amounts.keySet().stream())
                .filter(name -> name.equals(RNIC_RESOURCE) || name.startsWith(RDMA_RESOURCES));
        Stream<String> claimed = resources.stream()
                .flatMap(all -> all.getClaims().stream())
                .map(ResourceClaim::getName)
                .map(claim -> "the ResourceClaim " + claim);
        return Stream.concat(requested, claimed)
                .findFirst()
                .map(wanted -> "asks for " + Excerpt.of(wanted) + ", and with the annotation " + VERBS
                        + " its programs would not see an RDMA device of their own; remove one of the two, or name only"
                        + " other containers in the annotation " + CONTAINERS);
    }

    private Optional<String> unknownValue(Container container) {
        return present(container)
                .filter(entry -> entry.getValueFrom() != null)
                .map(_ ->
                        "takes the variable " + variable + " from valueFrom, which the library cannot be added to; give"
                                + " it a value, or use another value of the annotation " + VERBS);
    }

    /** Returns the entry of a container that determines the variable: the last one. */
    private Optional<EnvVar> present(Container container) {
        return container.getEnv().stream()
                .filter(entry -> variable.equals(entry.getName()))
                .reduce((_, last) -> last);
    }

    /** Returns whether a container is an installer. A container of that name without the volume is the pod's own. */
    static boolean isInstaller(Container container) {
        return NAME.equals(container.getName())
                && container.getVolumeMounts().stream().anyMatch(mount -> NAME.equals(mount.getName()));
    }

    /**
     * Returns the installer. It has the image, the rights and the resources of the sidecar. The resources do not count,
     * because the sidecar runs later and longer: a pod's request is that of the containers that run at a time.
     *
     * @param directory directory of the library in the installer
     */
    static Container installer(Container sidecar, String directory) {
        return new ContainerBuilder()
                .withName(NAME)
                .withImage(sidecar.getImage())
                .withImagePullPolicy(sidecar.getImagePullPolicy())
                .withCommand(INSTALLER, directory)
                .withResources(sidecar.getResources())
                .withSecurityContext(sidecar.getSecurityContext())
                .withTerminationMessagePolicy(sidecar.getTerminationMessagePolicy())
                .withVolumeMounts(new VolumeMountBuilder()
                        .withName(NAME)
                        .withMountPath(directory)
                        .build())
                .build();
    }

    /**
     * Gives a container the library.
     *
     * @param directory directory of the library in a container that does not mount it yet
     */
    void addTo(Container container, String directory) {
        List<VolumeMount> mounts = new ArrayList<>(container.getVolumeMounts());
        Optional<String> place = PodMutator.placeOf(NAME, mounts);
        if (place.isEmpty()) {
            mounts.add(new VolumeMountBuilder()
                    .withName(NAME)
                    .withMountPath(directory)
                    .withReadOnly(true)
                    .build());
            container.setVolumeMounts(mounts);
        }
        String ours = place.orElse(directory) + file;
        Optional<EnvVar> present = present(container);
        List<EnvVar> environment = new ArrayList<>(container.getEnv());
        present.ifPresentOrElse(
                entry -> entry.setValue(prefixed(ours, Objects.requireNonNullElse(entry.getValue(), ""))),
                () -> environment.add(new EnvVar(variable, ours, null)));
        container.setEnv(environment);
    }

    private static String prefixed(String ours, String others) {
        boolean prefixed = others.equals(ours) || others.startsWith(ours + ":");
        return prefixed ? others : others.isEmpty() ? ours : ours + ":" + others;
    }
}
