// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

/** ResourceClaim by which a sidecar gets its devices. Kubernetes creates the claim from the template of the profile. */
public final class PodClaim {
    /** Name of the claim in the pod. */
    static final String NAME = "sidewarp-rnics";

    private PodClaim() {}

    /** Returns the name of the ResourceClaimTemplate of a profile. */
    public static String templateOf(String profile) {
        return "sidewarp-" + profile;
    }
}
