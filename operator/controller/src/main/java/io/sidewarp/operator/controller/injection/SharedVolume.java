// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.EmptyDirVolumeSource;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.Optional;

/** The volume for shared regions. A pod may bring its own, of huge pages for instance. */
final class SharedVolume {
    static final String NAME = "sidewarp-shared";

    static final String MEMORY = "Memory";

    /** Followed by the size of the pages, or by nothing where the pod has those of one size only. */
    private static final String HUGE_PAGES = "HugePages";

    /** Memory that regions in huge pages take of a container, which has those counted apart. */
    static final Quantity NO_MEMORY = new Quantity("0");

    private SharedVolume() {}

    /** Whether a volume is memory of the pod alone. The kernel would write regions on a disk back to it, again and again. */
    static boolean isInMemory(Volume volume) {
        String medium = medium(volume);
        return medium.equals(MEMORY) || medium.startsWith(HUGE_PAGES);
    }

    /**
     * How much of the sidecar's memory regions can take.
     *
     * @param wanted size of the volume, where the pod's own does not tell
     */
    static Quantity memory(PodSpec spec, Quantity wanted) {
        return spec.getVolumes().stream()
                .filter(volume -> volume.getName().equals(NAME))
                .findFirst()
                .map(volume -> medium(volume).startsWith(HUGE_PAGES)
                        ? NO_MEMORY
                        : size(volume).orElse(wanted))
                .orElse(wanted);
    }

    private static Optional<Quantity> size(Volume volume) {
        return Optional.ofNullable(volume.getEmptyDir())
                .map(EmptyDirVolumeSource::getSizeLimit)
                .filter(ProfileRules::isPositive);
    }

    private static String medium(Volume volume) {
        return Optional.ofNullable(volume.getEmptyDir())
                .map(EmptyDirVolumeSource::getMedium)
                .orElse("");
    }
}
