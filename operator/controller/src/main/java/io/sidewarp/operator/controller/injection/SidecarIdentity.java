// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * User and group of a sidecar: those of the profile, else those of the pod, else the first ones that OpenShift allows in
 * the namespace, else those of the image.
 *
 * @param user user of the sidecar
 * @param group group of the sidecar, which owns the socket and the regions
 */
record SidecarIdentity(long user, long group) {
    /** Annotations of OpenShift at a namespace: ranges such as 1000650000/10000, the preferred one first. */
    private static final String USERS = "openshift.io/sa.scc.uid-range";

    private static final String GROUPS = "openshift.io/sa.scc.supplemental-groups";

    private static final Pattern FIRST_OF_RANGE = Pattern.compile("([0-9]{1,10})[/-][0-9]{1,10}(,.*)?");

    /** User and group of the image. */
    private static final long OF_IMAGE = 7471;

    static SidecarIdentity of(PodSpec spec, SidecarProfileSpec profile, Map<String, String> namespaceAnnotations) {
        Optional<PodSecurityContext> pod = Optional.ofNullable(spec.getSecurityContext());
        long user = Optional.ofNullable(profile.runAsUser())
                .or(() -> pod.map(PodSecurityContext::getRunAsUser).filter(SidecarIdentity::isUnprivileged))
                .or(() -> first(namespaceAnnotations.get(USERS)))
                .orElse(OF_IMAGE);
        // Volumes belong to fsGroup, and so do the socket and the files of regions.
        long group = Optional.ofNullable(profile.runAsGroup())
                .or(() -> pod.map(PodSecurityContext::getFsGroup).filter(SidecarIdentity::isUnprivileged))
                .or(() -> first(namespaceAnnotations.get(GROUPS)))
                .orElse(OF_IMAGE);
        return new SidecarIdentity(user, group);
    }

    private static Optional<Long> first(@Nullable String ranges) {
        return Optional.ofNullable(ranges)
                .map(text -> FIRST_OF_RANGE.matcher(text.strip()))
                .filter(Matcher::matches)
                .map(range -> Long.valueOf(range.group(1)))
                .filter(SidecarIdentity::isUnprivileged);
    }

    private static boolean isUnprivileged(long id) {
        return id > 0;
    }
}
