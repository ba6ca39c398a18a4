// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.EmptyDirVolumeSource;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.Optional;

/** Volume for shared regions. A pod may bring its own volume, for instance in huge pages. */
final class PodSharedVolume {
    static final String NAME = "sidewarp-shared";

    static final String MEMORY = "Memory";

    /** Medium of huge pages of the only size that the pod has. */
    private static final String HUGE_PAGES = "HugePages";

    /** Prefix of a medium of huge pages. The size of the pages follows. */
    private static final String HUGE_PAGES_OF = HUGE_PAGES + "-";

    /** Memory that regions in huge pages take of a container. Kubernetes counts huge pages apart. */
    static final Quantity NO_MEMORY = new Quantity("0");

    private PodSharedVolume() {}

    /**
     * Returns whether a volume is memory of the pod alone. For a volume on disk, the kernel would write the regions
     * back repeatedly.
     */
    static boolean isInMemory(Volume volume) {
        String medium = medium(volume);
        return medium.equals(MEMORY) || isHugePages(medium);
    }

    /** Returns the medium of a pod's own shared volume if the volume is in huge pages. */
    static Optional<String> hugePages(PodSpec spec) {
        return own(spec).map(PodSharedVolume::medium).filter(PodSharedVolume::isHugePages);
    }

    /** Returns the page size that a medium of huge pages names. Empty if the pod's containers determine the size. */
    static Optional<Quantity> pageSize(String medium) {
        return Optional.of(medium)
                .filter(name -> name.startsWith(HUGE_PAGES_OF))
                .flatMap(name -> ProfileRules.amount(name.substring(HUGE_PAGES_OF.length())));
    }

    private static boolean isHugePages(String medium) {
        return medium.equals(HUGE_PAGES) || pageSize(medium).isPresent();
    }

    /**
     * Returns how much of the sidecar's memory the regions can take.
     *
     * @param wanted size of the volume if the pod's own volume has no size limit
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
