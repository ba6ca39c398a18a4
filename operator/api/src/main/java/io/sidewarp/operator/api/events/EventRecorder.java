// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.events;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/** Writes events about custom resources. An event that cannot be written is logged and dropped. */
public final class EventRecorder {
    private static final System.Logger LOG = System.getLogger(EventRecorder.class.getName());
    /** Namespace for events of cluster-scoped resources. */
    private static final String CLUSTER_EVENTS_NAMESPACE = "default";

    private final KubernetesClient client;
    private final String component;

    /** @param component reporting component, such as sidewarp-controller */
    public EventRecorder(KubernetesClient client, String component) {
        this.client = client;
        this.component = component;
    }

    /** Records an event if another condition holds now, or the same condition for another reason. */
    public void transition(HasMetadata about, List<StatusCondition> former, List<StatusCondition> present) {
        for (StatusCondition now : present) {
            if (now.holds() && former.stream().noneMatch(before -> isSame(before, now))) {
                boolean bad = now.type().equals(StatusCondition.DEGRADED);
                record(about, bad ? "Warning" : "Normal", now.reason(), now.message());
            }
        }
    }

    private static boolean isSame(StatusCondition before, StatusCondition now) {
        return before.holds()
                && before.type().equals(now.type())
                && before.reason().equals(now.reason());
    }

    /** Records a warning. */
    public void warn(HasMetadata about, String reason, String message) {
        record(about, "Warning", reason, message);
    }

    /** Records an event that is no problem. */
    public void inform(HasMetadata about, String reason, String message) {
        record(about, "Normal", reason, message);
    }

    private void record(HasMetadata about, String type, String reason, String message) {
        String namespace =
                Optional.ofNullable(about.getMetadata().getNamespace()).orElse(CLUSTER_EVENTS_NAMESPACE);
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        Event event = new EventBuilder()
                .withNewMetadata()
                .withGenerateName(about.getMetadata().getName() + ".")
                .withNamespace(namespace)
                .endMetadata()
                .withNewInvolvedObject()
                .withApiVersion(about.getApiVersion())
                .withKind(about.getKind())
                .withName(about.getMetadata().getName())
                .withNamespace(about.getMetadata().getNamespace())
                .withUid(about.getMetadata().getUid())
                .withResourceVersion(about.getMetadata().getResourceVersion())
                .endInvolvedObject()
                .withType(type)
                .withReason(reason)
                .withMessage(message)
                .withFirstTimestamp(now)
                .withLastTimestamp(now)
                .withCount(1)
                .withNewSource()
                .withComponent(component)
                .endSource()
                .withReportingComponent(component)
                .withReportingInstance(component)
                .build();
        try {
            client.v1().events().inNamespace(namespace).resource(event).create();
        } catch (KubernetesClientException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "event=event-not-written about={0}/{1} reason={2} cause={3}",
                    about.getKind(),
                    about.getMetadata().getName(),
                    reason,
                    LogText.quoted(e.getMessage()));
        }
    }
}
