// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.client.VersionInfo;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Features of Kubernetes that the API server, the kubelets and the container runtimes must have. Nodes may be three minor
 * versions older than the API server.
 */
public enum KubernetesFeature {
    /** Init containers that keep running. An older kubelet would wait for the end of such a container. */
    NATIVE_SIDECARS(29),

    /** ResourceClaims with prioritised alternatives. An older kubelet would start the pod without its devices. */
    RESOURCE_CLAIMS(34),

    /** ResourceClaims that Kubernetes itself creates for requests of an extended resource. */
    EXTENDED_RESOURCE_CLAIMS(36);

    private static final Pattern KUBELET = Pattern.compile("v([0-9]{1,4})[.]([0-9]{1,4})([^0-9].*)?");

    private final int since;

    /** @param since minor version of Kubernetes 1 that has the feature by default */
    KubernetesFeature(int since) {
        this.since = since;
    }

    /** Returns whether an API server of this version has the feature. */
    public boolean isIn(VersionInfo version) {
        // Providers append to the minor version: "29+".
        String minor = version.getMinor().replaceAll("[^0-9].*", "");
        return isIn(Integer.parseInt(version.getMajor()), Integer.parseInt(minor));
    }

    /** Returns whether a kubelet has the feature. Also true for an unknown version. */
    boolean isInKubelet(@Nullable String version) {
        Matcher matcher = KUBELET.matcher(version == null ? "" : version);
        return !matcher.matches() || isIn(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    /**
     * Returns whether a container runtime has the feature. Claims give containers their devices by CDI (Container Device
     * Interface). By default, containerd 1 does without CDI. The container would silently start without devices.
     *
     * @param version name and version, such as {@code containerd://2.1.4}
     */
    boolean isInRuntime(@Nullable String version) {
        return this == NATIVE_SIDECARS || version == null || !version.startsWith("containerd://1.");
    }

    private boolean isIn(int major, int minor) {
        return major > 1 || minor >= since;
    }
}
