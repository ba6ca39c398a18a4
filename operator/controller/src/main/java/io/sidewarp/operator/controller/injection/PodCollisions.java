// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.INJECT;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.sidewarp.operator.api.v1alpha1.IdentitySource;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Finds names, mounts and ports of a pod that collide with the additions, unless they were added before. */
final class PodCollisions {
    private PodCollisions() {}

    /**
     * Returns what collides, and what to do. Empty if nothing does.
     *
     * @param containers names of the containers that get the API socket and the shared regions
     * @param ended names of the containers that have ended when the sidecar starts
     * @param identity source of the sidecar's identity. A pod may have the volume itself for other sources than
     *     {@link IdentitySource#BUILTIN}
     */
    static Optional<String> whatIsWrong(
            Pod pod,
            SidecarProfileSpec profile,
            Set<String> containers,
            Set<String> ended,
            Optional<IdentitySource> identity) {
        return names(pod, identity)
                .or(() -> mounts(pod.getSpec(), profile.mountPath(), containers))
                .or(() -> ports(pod.getSpec(), profile.managementPort(), ended));
    }

    private static Optional<String> names(Pod pod, Optional<IdentitySource> identity) {
        if (PodMutator.hasSidecar(pod)) {
            return Optional.empty();
        }
        if (PodMutator.containers(pod.getSpec())
                .anyMatch(container -> container.getName().equals(PodMutator.SIDECAR))) {
            return Optional.of("the pod has a container of its own named " + PodMutator.SIDECAR
                    + "; rename it, or opt out with " + INJECT + ": disabled");
        }
        return pod.getSpec().getVolumes().stream()
                .flatMap(volume -> ownVolume(volume, identity).stream())
                .findFirst();
    }

    private static Optional<String> ownVolume(Volume volume, Optional<IdentitySource> identity) {
        String name = volume.getName();
        if (name.equals(PodSharedVolume.NAME)) {
            return PodSharedVolume.isInMemory(volume)
                    ? Optional.empty()
                    : Optional.of("the pod has a volume of its own named " + name
                            + ", which is not in memory; make it an emptyDir of the medium Memory or HugePages, rename"
                            + " it, or opt out with " + INJECT + ": disabled");
        }
        boolean token = identity.equals(Optional.of(IdentitySource.BUILTIN));
        return PodMutator.VOLUMES.contains(name) || (token && name.equals(PeerSecurity.VOLUME))
                ? Optional.of("the pod has a volume of its own named " + name + "; rename it, or opt out with " + INJECT
                        + ": disabled")
                : Optional.empty();
    }

    private static Optional<String> mounts(PodSpec spec, String mountPath, Set<String> containers) {
        for (Container container : PodMutator.containers(spec).toList()) {
            if (!containers.contains(container.getName())) {
                continue;
            }
            for (VolumeMount mount : container.getVolumeMounts()) {
                if (isInTheWay(mount, mountPath)) {
                    return Optional.of("container " + Excerpt.of(container.getName()) + " mounts volume "
                            + Excerpt.of(mount.getName()) + " at " + Excerpt.of(mount.getMountPath())
                            + ", where the API socket and the shared regions go; mount it elsewhere, or"
                            + " set mountPath of the SidecarProfile");
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isInTheWay(VolumeMount mount, String ours) {
        String mounted = mount.getMountPath();
        String path = mounted.endsWith("/") ? mounted.substring(0, mounted.length() - 1) : mounted;
        // The API socket's volume is mounted at this path.
        if (path.equals(ours)) {
            return !mount.getName().equals(PodMutator.API_VOLUME);
        }
        return switch (mount.getName()) {
            case PodMutator.API_VOLUME, PodMutator.TEMPORARY_VOLUME, VerbsLibrary.NAME -> false;
            case PodSharedVolume.NAME -> !PodMutator.isWhole(mount) && path.startsWith(ours + "/");
            default -> path.startsWith(ours + "/");
        };
    }

    /** Finds a container that uses the management port, because all containers of a pod share one network. */
    private static Optional<String> ports(PodSpec spec, int managementPort, Set<String> ended) {
        return PodMutator.containers(spec)
                .filter(container -> !PodMutator.isAdded(container))
                .filter(container -> !ended.contains(container.getName()))
                .filter(container -> container.getPorts().stream().anyMatch(port -> isTcp(port, managementPort)))
                .findFirst()
                .map(container -> "container " + Excerpt.of(container.getName()) + " has the port " + managementPort
                        + ", where the sidecar has its health and metrics; give one of them another: the sidecar by"
                        + " managementPort of the SidecarProfile");
    }

    private static boolean isTcp(ContainerPort port, int number) {
        return Objects.equals(port.getContainerPort(), number)
                && Optional.ofNullable(port.getProtocol()).orElse("TCP").equals("TCP");
    }
}
