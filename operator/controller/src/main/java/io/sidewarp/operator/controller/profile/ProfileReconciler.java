// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.profile;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.MaxReconciliationInterval;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.Mappers;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.SidecarPlacement;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileStatus;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.api.v1alpha1.StatusCondition.State;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.Retries;
import io.sidewarp.operator.controller.injection.IdentityOffer;
import io.sidewarp.operator.controller.injection.PodClaim;
import io.sidewarp.operator.controller.injection.PodNetwork;
import io.sidewarp.operator.controller.injection.ProfileRules;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reports in the status of a profile whether pods can use it, before a pod is refused. Keeps the ResourceClaimTemplate
 * of the profile.
 */
@ControllerConfiguration(
        name = "profile",
        maxReconciliationInterval =
                @MaxReconciliationInterval(interval = Retries.LOST_EVENT_SECONDS, timeUnit = SECONDS))
@GradualRetry(maxAttempts = Retries.FOR_EVER, maxInterval = Retries.MAX_INTERVAL_MILLIS)
public class ProfileReconciler implements Reconciler<SidecarProfile> {
    /** Time before the API server is asked again for a template that it has refused. */
    private static final Duration RETRY = Duration.ofMinutes(1);

    /** Time before the controller's CA is looked for again. */
    private static final Duration CA_RETRY = Duration.ofSeconds(5);

    private static final String NO_CA = "NoCertificateAuthority";

    private final EventRecorder events;
    private final ClusterFeatures features;
    private final Supplier<IdentityOffer> identities;
    private @Nullable InformerEventSource<IwarpNicPolicy, SidecarProfile> policies;
    /** Templates of claims. They are followed when the API server has ResourceClaims. */
    private @Nullable InformerEventSource<ResourceClaimTemplate, SidecarProfile> templates;

    public ProfileReconciler(EventRecorder events, ClusterFeatures features, Supplier<IdentityOffer> identities) {
        this.events = events;
        this.features = features;
        this.identities = identities;
    }

    @Override
    public List<EventSource<?, SidecarProfile>> prepareEventSources(EventSourceContext<SidecarProfile> context) {
        policies = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(IwarpNicPolicy.class, SidecarProfile.class)
                        .withName("policies")
                        .withSecondaryToPrimaryMapper(policy -> context.getPrimaryCache()
                                .list(profile -> policy.getMetadata()
                                        .getName()
                                        .equals(specification(profile).nicPolicy()))
                                .map(ResourceID::fromResource)
                                .collect(Collectors.toSet()))
                        .withOnUpdateFilter(
                                (updated, former) -> PodNetwork.of(updated).isPresent()
                                        != PodNetwork.of(former).isPresent())
                        .build(),
                context);
        SimpleInboundEventSource<SidecarProfile> cluster = new SimpleInboundEventSource<>("cluster");
        features.onChange(() ->
                context.getPrimaryCache().list().map(ResourceID::fromResource).forEach(cluster::propagateEvent));
        templates = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(ResourceClaimTemplate.class, SidecarProfile.class)
                        .withName("claim-templates")
                        .withWatchAllNamespaces()
                        .withLabelSelector(OperatorConfig.MANAGED_LABEL + "=" + OperatorConfig.MANAGER)
                        .withSecondaryToPrimaryMapper(Mappers.fromOwnerReferences(SidecarProfile.class))
                        .build(),
                context);
        return List.of(policies, cluster);
    }

    private static SidecarProfileSpec specification(SidecarProfile profile) {
        return Optional.ofNullable(profile.getSpec()).orElseGet(SidecarProfileSpec::defaults);
    }

    @Override
    public UpdateControl<SidecarProfile> reconcile(SidecarProfile profile, Context<SidecarProfile> context) {
        Long generation = profile.getMetadata().getGeneration();
        Optional<SidecarProfileStatus> former = Optional.ofNullable(profile.getStatus());
        List<StatusCondition> conditions =
                former.map(SidecarProfileStatus::conditions).orElseGet(List::of);
        Optional<State> refused = keepTemplate(profile, context);
        State state = refused.orElseGet(
                () -> state(specification(profile), profile.getMetadata().getNamespace()));
        SidecarProfileStatus status =
                new SidecarProfileStatus(generation, StatusCondition.of(conditions, state, generation));
        Optional<Duration> again = refused.map(_ -> RETRY)
                .or(() -> state.reason().equals(NO_CA) ? Optional.of(CA_RETRY) : Optional.empty());
        if (former.isPresent() && former.get().equals(status)) {
            return again(UpdateControl.noUpdate(), again);
        }
        events.transition(profile, conditions, status.conditions());
        SidecarProfile patch = new SidecarProfile();
        patch.setMetadata(new ObjectMetaBuilder()
                .withNamespace(profile.getMetadata().getNamespace())
                .withName(profile.getMetadata().getName())
                .build());
        patch.setStatus(status);
        return again(UpdateControl.patchStatus(patch), again);
    }

    private static UpdateControl<SidecarProfile> again(
            UpdateControl<SidecarProfile> control, Optional<Duration> after) {
        after.ifPresent(control::rescheduleAfter);
        return control;
    }

    /** Keeps the template of the profile's claims. Returns the state of the profile if the API server refuses that. */
    private Optional<State> keepTemplate(SidecarProfile profile, Context<SidecarProfile> context) {
        if (!features.isInServer(KubernetesFeature.RESOURCE_CLAIMS)) {
            return Optional.empty();
        }
        context.eventSourceRetriever().dynamicallyRegisterEventSource(Objects.requireNonNull(templates));
        SidecarProfileSpec specification = specification(profile);
        int rnics = specification.nicPolicy() == null ? specification.rnics() : 0;
        try {
            ClaimTemplates.apply(
                    context.getClient(), profile, context.getSecondaryResource(ResourceClaimTemplate.class), rnics);
            return Optional.empty();
        } catch (KubernetesClientException e) {
            return Optional.of(new State(
                    StatusCondition.PROGRESSING,
                    "ClaimTemplateRefused",
                    "pods of the profile wait for the ResourceClaimTemplate "
                            + PodClaim.templateOf(profile.getMetadata().getName())
                            + ", which the API server refuses; it is tried again each minute: " + e.getMessage()));
        }
    }

    private State state(SidecarProfileSpec profile, String namespace) {
        IdentityOffer offer = identities.get();
        Optional<String> wrong = ProfileRules.whatIsWrong(profile, namespace, offer);
        if (wrong.isPresent()) {
            return new State(StatusCondition.DEGRADED, "Invalid", wrong.get());
        }
        if (profile.placement() == SidecarPlacement.NATIVE && !features.isInServer(KubernetesFeature.NATIVE_SIDECARS)) {
            return new State(
                    StatusCondition.DEGRADED, "NoNativeSidecars", "the profile " + ProfileRules.NO_NATIVE_SIDECARS);
        }
        if (ProfileRules.waitsForCa(profile, offer)) {
            return new State(StatusCondition.PROGRESSING, NO_CA, ProfileRules.NO_CA);
        }
        String nicPolicy = profile.nicPolicy();
        if (nicPolicy != null && profile.rnics() > 0 && !hasNetwork(nicPolicy)) {
            return new State(
                    StatusCondition.PROGRESSING, "NoNetwork", "the profile " + ProfileRules.noNetwork(nicPolicy));
        }
        if (nicPolicy != null && profile.rnics() > 0 && features.has(KubernetesFeature.RESOURCE_CLAIMS)) {
            return new State(
                    StatusCondition.READY,
                    "DevicePlugin",
                    "pods can use the profile; they get their devices from the device plugin and not by ResourceClaims,"
                            + " because Multus needs that for the network of the IwarpNicPolicy " + nicPolicy);
        }
        return new State(StatusCondition.READY, "Valid", "pods can use the profile");
    }

    private boolean hasNetwork(String nicPolicy) {
        return Optional.ofNullable(policies)
                .flatMap(known -> known.get(new ResourceID(nicPolicy)))
                .flatMap(PodNetwork::of)
                .isPresent();
    }
}
