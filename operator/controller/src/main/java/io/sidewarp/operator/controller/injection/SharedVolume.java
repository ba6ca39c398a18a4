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

    /** Pages of the one size that the pod has. */
    private static final String HUGE_PAGES = "HugePages";

    /** Followed by the size of the pages. */
    private static final String HUGE_PAGES_OF = HUGE_PAGES + "-";

    /** Memory that regions in huge pages take of a container, which has those counted apart. */
    static final Quantity NO_MEMORY = new Quantity("0");

    private SharedVolume() {}

    /** Whether a volume is memory of the pod alone. The kernel would write regions on a disk back to it, again and again. */
    static boolean isInMemory(Volume volume) {
        String medium = medium(volume);
        return medium.equals(MEMORY) || isHugePages(medium);
    }

    /** The medium of a pod's own shared volume, if that is of huge pages. */
    static Optional<String> hugePages(PodSpec spec) {
        return own(spec).map(SharedVolume::medium).filter(SharedVolume::isHugePages);
    }

    /** Size of the pages that a medium of huge pages names, or empty where the pod's containers tell. */
    static Optional<Quantity> pageSize(String medium) {
        return Optional.of(medium)
                .filter(name -> name.startsWith(HUGE_PAGES_OF))
                .flatMap(name -> ProfileRules.amount(name.substring(HUGE_PAGES_OF.length())));
    }

    private static boolean isHugePages(String medium) {
        return medium.equals(HUGE_PAGES) || pageSize(medium).isPresent();
    }

    /**
     * How much of the sidecar's memory regions can take.
     *
     * @param wanted size of the volume, where the pod's own does not tell
     */
    static Quantity memory(PodSpec spec, Quantity wanted) {
        return own(spec)
                .map(volume ->
                        isHugePages(medium(volume)) ? NO_MEMORY : size(volume).orElse(wanted))
                .orElse(wanted);
    }

    private static Optional<Volume> own(PodSpec spec) {
        return spec.getVolumes().stream()
                .filter(volume -> volume.getName().equals(NAME))
                .findFirst();
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
