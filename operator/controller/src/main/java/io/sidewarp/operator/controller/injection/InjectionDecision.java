// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Quantity;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What becomes of a pod. */
public sealed interface InjectionDecision {

    /**
     * It gets a sidecar.
     *
     * @param profileName name of the profile, or {@code built-in} for none
     * @param profile set-up of the sidecar
     * @param containers names of the containers that get the API socket and the shared regions
     * @param rnics how many devices the pod asks for
     * @param networks the annotation by which the pod gets the networks of these devices; empty for no networks
     * @param rnicResource extended resource that they are
     * @param sharedMemory size of the volume for shared regions
     * @param nativeSidecar whether the sidecar is an init container that keeps running
     */
    record Inject(
            String profileName,
            SidecarProfileSpec profile,
            Set<String> containers,
            int rnics,
            Optional<String> networks,
            String rnicResource,
            Quantity sharedMemory,
            boolean nativeSidecar)
            implements InjectionDecision {}

    /**
     * It stays as it is.
     *
     * @param reason why, in one word for metrics
     * @param warnings what its author is told
     */
    record Skip(SkipReason reason, List<String> warnings) implements InjectionDecision {}

    /**
     * It is refused.
     *
     * @param message what is wrong, and what to do
     */
    record Refuse(String message) implements InjectionDecision {}

    /** Why a pod stays as it is. */
    enum SkipReason {
        NOT_ASKED_FOR,
        OPTED_OUT,
        NEVER_COMPLETES,
        NOT_LINUX,
        MIRROR_POD
    }
}
