// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.events;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;

/** Writes events about custom resources. An event that cannot be written is logged and forgotten. */
@ApplicationScoped
public class EventRecorder {
    private static final Logger LOG = Logger.getLogger(EventRecorder.class);
    private static final String COMPONENT = "sidewarp-controller";
    /** Events of cluster-scoped resources live there. */
    private static final String CLUSTER_EVENTS_NAMESPACE = "default";

    private final KubernetesClient client;

    public EventRecorder(KubernetesClient client) {
        this.client = client;
    }

    /** Tells that another condition, or the same for another reason, holds now. */
    public void transition(HasMetadata about, List<StatusCondition> former, List<StatusCondition> present) {
        Optional<StatusCondition> before =
                former.stream().filter(StatusCondition::holds).findFirst();
        Optional<StatusCondition> now =
                present.stream().filter(StatusCondition::holds).findFirst();
        if (now.isPresent()
                && !(before.isPresent()
                        && before.get().type().equals(now.get().type())
                        && before.get().reason().equals(now.get().reason()))) {
            boolean bad = now.get().type().equals(StatusCondition.DEGRADED);
            record(
                    about,
                    bad ? "Warning" : "Normal",
                    now.get().reason(),
                    now.get().message());
        }
    }

    /** Tells that something is wrong. */
    public void warn(HasMetadata about, String reason, String message) {
        record(about, "Warning", reason, message);
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
                .withComponent(COMPONENT)
                .endSource()
                .withReportingComponent(COMPONENT)
                .withReportingInstance(COMPONENT)
                .build();
        try {
            client.v1().events().inNamespace(namespace).resource(event).create();
        } catch (KubernetesClientException e) {
            LOG.warnf(
                    "event=event-not-written about=%s/%s reason=%s cause=\"%s\"",
                    about.getKind(), about.getMetadata().getName(), reason, e.getMessage());
        }
    }
}
