// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Quantity;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Decision about the injection into one pod. */
public sealed interface InjectionDecision {

    /**
     * The pod gets a sidecar.
     *
     * @param profileName name of the profile, or {@code built-in} without a profile
     * @param profile settings of the sidecar
     * @param containers names of the containers that get the API socket and the shared regions
     * @param rnics number of devices that the pod requests
     * @param networks annotation that gives the pod the networks of these devices; empty for no networks
     * @param rnicResource extended resource of these devices
     * @param claimTemplate ResourceClaimTemplate of a claim for these devices; empty for the extended resource
     * @param sharedMemory size of the volume for shared regions
     * @param nativeSidecar whether the sidecar is an init container that keeps running
     * @param verbs how the containers find the verbs library; empty if they do not get it
     * @param security TLS, permitted peers and identity of the sidecar
     * @param namespaceAnnotations annotations of the pod's namespace
     */
    record Inject(
            String profileName,
            SidecarProfileSpec profile,
            Set<String> containers,
            int rnics,
            Optional<String> networks,
            String rnicResource,
            Optional<String> claimTemplate,
            Quantity sharedMemory,
            boolean nativeSidecar,
            Optional<VerbsLibrary> verbs,
            PeerSecurity security,
            Map<String, String> namespaceAnnotations)
            implements InjectionDecision {}

    /**
     * The pod stays unchanged.
     *
     * @param reason cause, as one word for metrics
     * @param warnings warnings for the author of the pod
     */
    record Skip(SkipReason reason, List<String> warnings) implements InjectionDecision {}

    /**
     * The pod is refused.
     *
     * @param message what is wrong, and what to do
     */
    record Refuse(String message) implements InjectionDecision {}

    /** Cause of an unchanged pod. */
    enum SkipReason {
        NOT_ASKED_FOR,
        OPTED_OUT,
        NEVER_COMPLETES,
        NOT_LINUX,
        MIRROR_POD
    }
}
