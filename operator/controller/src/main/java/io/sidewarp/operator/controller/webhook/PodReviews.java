// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponse;
import io.sidewarp.common.status.RecentEvents;
import java.util.List;

/** Decisions of this replica about pods in the last minutes, for the status page. Thread-safe. */
public final class PodReviews {

    private final RecentEvents<Review> reviews = new RecentEvents<>();

    /** Decisions about a pod. */
    public enum Decision {
        INJECTED,
        UNCHANGED,
        REFUSED
    }

    /**
     * A decision.
     *
     * @param pod name of the pod, or the prefix of its future name
     * @param message warnings for the author of the pod, or the reason of a refusal
     */
    public record Review(String namespace, String pod, Decision decision, String message) {}

    /** Keeps a decision, unless the pod neither gets a sidecar nor a message. */
    void add(String namespace, String pod, AdmissionResponse response) {
        List<String> warnings = response.getWarnings() == null ? List.of() : response.getWarnings();
        if (!response.getAllowed()) {
            String reason = String.valueOf(response.getStatus().getMessage());
            reviews.add(new Review(namespace, pod, Decision.REFUSED, reason));
        } else if (response.getPatch() != null) {
            reviews.add(new Review(namespace, pod, Decision.INJECTED, String.join(" ", warnings)));
        } else if (!warnings.isEmpty()) {
            reviews.add(new Review(namespace, pod, Decision.UNCHANGED, String.join(" ", warnings)));
        }
    }

    /** Returns the decisions, the newest first. */
    public List<RecentEvents.Entry<Review>> list() {
        return reviews.list();
    }
}
