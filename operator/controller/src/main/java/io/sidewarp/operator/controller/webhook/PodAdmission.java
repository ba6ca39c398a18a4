// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponse;
import io.javaoperatorsdk.webhook.admission.AdmissionRequestHandler;
import io.javaoperatorsdk.webhook.admission.AdmissionUtils;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.controller.injection.InjectionDecision;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import io.sidewarp.operator.controller.injection.InjectionDecision.Skip;
import io.sidewarp.operator.controller.injection.InjectionDecision.SkipReason;
import io.sidewarp.operator.controller.injection.InjectionRules;
import io.sidewarp.operator.controller.injection.PodMutator;
import java.net.HttpURLConnection;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * Decides for the API server whether a new pod gets a sidecar, stays unchanged or is refused. The only effects in the
 * cluster are events, which dry runs and repeated calls do not cause.
 */
final class PodAdmission implements AdmissionRequestHandler {
    private static final Logger LOG = Logger.getLogger(PodAdmission.class);
    private static final String INJECTED = "injected";

    /** A review of a pod that has its sidecar: the API server asks again after other webhooks. */
    private static final String INJECTED_BEFORE = "injected-before";

    private static final String REFUSED = "refused";

    private final PodMutator mutator;
    private final NamespaceFacts facts;
    private final OwnerWarnings ownerWarnings;
    private final PodReviews reviews;
    private final MeterRegistry meters;
    private final Tracer tracer;

    PodAdmission(
            PodMutator mutator,
            NamespaceFacts facts,
            OwnerWarnings ownerWarnings,
            PodReviews reviews,
            MeterRegistry meters,
            Tracer tracer) {
        this.mutator = mutator;
        this.facts = facts;
        this.ownerWarnings = ownerWarnings;
        this.reviews = reviews;
        this.meters = meters;
        this.tracer = tracer;
        // Alerts need a series before the first event is counted.
        Stream.concat(
                        Stream.of(INJECTED, INJECTED_BEFORE, REFUSED),
                        Arrays.stream(SkipReason.values()).map(PodAdmission::name))
                .forEach(this::counter);
    }

    @Override
    public AdmissionResponse handle(AdmissionRequest request) {
        if (!"CREATE".equals(request.getOperation()) || !(request.getObject() instanceof Pod pod)) {
            return AdmissionUtils.allowedAdmissionResponse();
        }
        String namespace = request.getNamespace();
        Span span = tracer.spanBuilder("admit pod")
                .setAttribute("k8s.namespace.name", namespace)
                .setAttribute("k8s.resource.name", nameOf(pod))
                .setAttribute("sidewarp.dry-run", Boolean.TRUE.equals(request.getDryRun()))
                .startSpan();
        try (Scope scope = span.makeCurrent()) {
            AdmissionResponse response = decide(pod, namespace, span);
            if (!Boolean.TRUE.equals(request.getDryRun())) {
                ownerWarnings.tell(pod, namespace, response.getWarnings());
                if (!PodMutator.hasSidecar(pod)) {
                    reviews.add(namespace, nameOf(pod), response);
                }
            }
            return response;
        } finally {
            span.end();
        }
    }

    /** Returns the name of a pod, or the prefix of its future name. Most pods have no name yet. */
    private static String nameOf(Pod pod) {
        Optional<ObjectMeta> metadata = Optional.ofNullable(pod.getMetadata());
        return metadata.map(ObjectMeta::getName)
                .or(() -> metadata.map(ObjectMeta::getGenerateName))
                .orElse("");
    }

    private AdmissionResponse decide(Pod pod, String namespace, Span span) {
        InjectionDecision decision =
                InjectionRules.decide(pod, namespace, facts.labels(namespace), facts.of(namespace));
        return switch (decision) {
            case Inject inject -> {
                count(PodMutator.hasSidecar(pod) ? INJECTED_BEFORE : INJECTED, span);
                span.setAttribute("sidewarp.profile", inject.profileName());
                AdmissionResponse response =
                        AdmissionUtils.admissionResponseFromMutation(pod, mutator.mutate(pod, inject));
                warn(response, InjectionRules.namesWithoutEffect(pod).stream());
                yield response;
            }
            case Skip skip -> {
                count(name(skip.reason()), span);
                AdmissionResponse response = AdmissionUtils.allowedAdmissionResponse();
                warn(
                        response,
                        Stream.concat(skip.warnings().stream(), InjectionRules.namesWithoutEffect(pod).stream()));
                yield response;
            }
            case Refuse refuse -> {
                count(REFUSED, span);
                span.setAttribute("sidewarp.reason", refuse.message());
                LOG.infof(
                        "event=pod-refused namespace=%s reason=%s",
                        LogText.quoted(namespace), LogText.quoted(refuse.message()));
                AdmissionResponse response = new AdmissionResponse();
                response.setAllowed(false);
                response.setStatus(new StatusBuilder()
                        .withCode(HttpURLConnection.HTTP_BAD_REQUEST)
                        .withMessage("sidewarp: " + refuse.message())
                        .build());
                yield response;
            }
        };
    }

    private static void warn(AdmissionResponse response, Stream<String> warnings) {
        response.setWarnings(warnings.map(warning -> "sidewarp: " + warning).toList());
    }

    private void count(String decision, Span span) {
        span.setAttribute("sidewarp.decision", decision);
        counter(decision).increment();
    }

    private Counter counter(String decision) {
        return meters.counter("sidewarp.operator.admissions", "decision", decision);
    }

    private static String name(SkipReason reason) {
        return reason.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
