// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.PROFILE;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Rules of Kubernetes for huge pages, which it counts per container and page size. A container without a limit of huge
 * pages gets none, and a volume of huge pages is mounted only in a pod that requests them. The sidecar needs the limit,
 * because it allocates the pages of regions.
 */
final class HugePages {
    /** Prefix of the resource. The size of the pages follows. */
    private static final String RESOURCE = "hugepages-";

    private HugePages() {}

    static boolean isResource(String name) {
        return name.startsWith(RESOURCE);
    }

    /**
     * Returns what the API server would refuse in the sidecar's resources in any pod, and what to do. Empty if nothing.
     */
    static Optional<String> whatIsWrong(Map<String, Quantity> requests, Map<String, Quantity> limits) {
        Map<String, Quantity> all = new TreeMap<>(requests);
        all.putAll(limits);
        if (all.keySet().stream().anyMatch(HugePages::isResource)
                && !all.containsKey("cpu")
                && !all.containsKey("memory")) {
            return Optional.of(
                    "resources has huge pages, which Kubernetes gives only with cpu or memory; add a request or"
                            + " limit of one of them");
        }
        return all.entrySet().stream()
                .filter(resource -> isResource(resource.getKey()))
                .flatMap(resource -> pagesWrong(resource.getKey(), resource.getValue()).stream())
                .findFirst();
    }

    private static Optional<String> pagesWrong(String name, Quantity quantity) {
        Optional<Quantity> size = ProfileRules.amount(name.substring(RESOURCE.length()));
        if (size.isEmpty()) {
            return Optional.of("resources has " + Excerpt.quoted(name)
                    + ", which names no size of huge pages; name one that the nodes have, for instance hugepages-2Mi");
        }
        boolean whole = ProfileRules.isNumber(quantity)
                && quantity.getNumericalAmount()
                                .remainder(size.get().getNumericalAmount())
                                .signum()
                        == 0;
        return whole
                ? Optional.empty()
                : Optional.of("resources has " + quantity + " of " + name
                        + ", which is no whole number of pages; give a multiple of " + size.get());
    }

    /**
     * Returns what is wrong with a pod whose volume for shared regions is in huge pages, and what to do. Empty for
     * other pods.
     */
    static Optional<String> whatIsWrong(PodSpec spec, SidecarProfileSpec profile, String profileName) {
        return PodSharedVolume.hugePages(spec).flatMap(medium -> {
            Optional<Quantity> wanted = PodSharedVolume.pageSize(medium);
            NavigableSet<Quantity> ofApplications = ofApplications(spec);
            NavigableSet<Quantity> ofSidecar = ofSidecar(spec, profile);
            if (ofSidecar.isEmpty() || !wanted.map(ofSidecar::contains).orElse(true)) {
                String limit = RESOURCE
                        + wanted.or(() -> ofApplications.stream().findFirst())
                                .map(Quantity::toString)
                                .orElse("2Mi");
                return Optional.of("the pod has a volume " + PodSharedVolume.NAME + " of the medium " + medium
                        + ", but the SidecarProfile " + profileName + " gives the sidecar, which fills it, no limit of "
                        + wanted.map(_ -> limit).orElse("huge pages")
                        + "; add one to resources.limits of the profile, for instance " + limit
                        + ": 1Gi, name another profile with the annotation " + PROFILE
                        + ", or make the medium Memory");
            }
            NavigableSet<Quantity> all = new TreeSet<>(ofApplications);
            all.addAll(ofSidecar);
            if (wanted.isEmpty() && all.size() > 1) {
                return Optional.of("the pod has a volume " + PodSharedVolume.NAME + " of the medium " + medium
                        + ", which does not say the size of pages, and with its sidecar of the SidecarProfile "
                        + profileName
                        + " limits of several ("
                        + all.stream().map(Quantity::toString).collect(Collectors.joining(", "))
                        + "); make the medium " + medium + "-" + ofSidecar.first()
                        + ", or have pages of one size in all containers");
            }
            return Optional.empty();
        });
    }

    private static NavigableSet<Quantity> ofApplications(PodSpec spec) {
        return PodMutator.containers(spec)
                .filter(container -> !PodMutator.isAdded(container))
                .map(Container::getResources)
                .flatMap(resources -> pageSizes(PodResources.limits(resources)).stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Returns the page sizes of the sidecar. The limits of the whole pod apply to a container without huge pages of its
     * own.
     */
    private static NavigableSet<Quantity> ofSidecar(PodSpec spec, SidecarProfileSpec profile) {
        NavigableSet<Quantity> own = pageSizes(profile.resources().limitsWith(PodSharedVolume.NO_MEMORY));
        return own.isEmpty() ? pageSizes(PodResources.limits(spec.getResources())) : own;
    }

    private static NavigableSet<Quantity> pageSizes(Map<String, Quantity> limits) {
        return limits.entrySet().stream()
                .filter(limit -> isResource(limit.getKey()) && ProfileRules.isPositive(limit.getValue()))
                .flatMap(limit -> ProfileRules.amount(limit.getKey().substring(RESOURCE.length())).stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
