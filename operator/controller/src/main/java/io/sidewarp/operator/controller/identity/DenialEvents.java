// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.events.EventRecorder;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes denials that a sidecar reports as events of its pod, so that the pod's owner sees them. A pod gets at most one
 * event in an interval, because the sidecar's pod chooses how often it reports.
 */
final class DenialEvents {
    static final String FORMAT = "a report is {\"count\": NUMBER, \"last\": MESSAGE}";

    private static final String REASON = "PeersDenied";
    private static final Duration INTERVAL = Duration.ofSeconds(30);
    private static final int MAX_MESSAGE = 700;
    private static final int REMEMBERED = 1000;

    /**
     * Report of a sidecar.
     *
     * @param count connections that listeners denied since the last report
     * @param last reason of the last denial, with the identities of both sides
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Report(long count, @Nullable String last) {}

    private final EventRecorder events;

    /** Time of the last event by pod. */
    private final Map<String, Instant> told = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Instant> eldest) {
            return size() > REMEMBERED;
        }
    };

    DenialEvents(EventRecorder events) {
        this.events = events;
    }

    /**
     * Records an event of the caller's pod. Returns false if the last event is too recent, and the sidecar should report
     * again later.
     *
     * @throws IllegalArgumentException if the caller is no pod, or the report has no denial
     */
    boolean tell(Caller caller, @Nullable Report report, Instant now) {
        if (caller.pod().isEmpty()) {
            throw new IllegalArgumentException("the token belongs to no pod; use the projected token of a pod");
        }
        if (report == null || report.count() < 1 || report.last() == null) {
            throw new IllegalArgumentException(FORMAT);
        }
        if (!isDue(caller.podUid(), now)) {
            return false;
        }
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace(caller.namespace())
                .withName(caller.pod())
                .withUid(caller.podUid())
                .endMetadata()
                .build();
        events.warn(
                pod,
                REASON,
                "the sidecar denied " + (report.count() == 1 ? "a connection" : report.count() + " connections")
                        + "; the last one: " + LogText.printable(report.last(), MAX_MESSAGE));
        return true;
    }

    private synchronized boolean isDue(String pod, Instant now) {
        Instant last = told.get(pod);
        if (last != null && now.isBefore(last.plus(INTERVAL))) {
            return false;
        }
        told.remove(pod);
        told.put(pod, now);
        return true;
    }
}
