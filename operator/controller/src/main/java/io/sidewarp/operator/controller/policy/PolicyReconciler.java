// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the status of policies, and lets a deleted one go when the nodes have put its NICs back to what they were.
 */
@ControllerConfiguration(name = "policy", finalizerName = SidewarpApi.RESTORE_FINALIZER)
public class PolicyReconciler implements Reconciler<IwarpNicPolicy>, Cleaner<IwarpNicPolicy> {
    private static final Duration RESTORE_CHECK = Duration.ofSeconds(10);

    private final OperatorConfig config;
    private final EventRecorder events;
    private @Nullable InformerEventSource<IwarpNode, IwarpNicPolicy> nodes;

    public PolicyReconciler(OperatorConfig config, EventRecorder events) {
        this.config = config;
        this.events = events;
    }

    @Override
    public List<EventSource<?, IwarpNicPolicy>> prepareEventSources(EventSourceContext<IwarpNicPolicy> context) {
        nodes = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(IwarpNode.class, IwarpNicPolicy.class)
                        .withName("iwarp-nodes")
                        .withSecondaryToPrimaryMapper(node -> concerned(node, context))
                        .build(),
                context);
        return List.of(nodes);
    }

    /** The policies that a node names, and those that wait for their end. */
    private static Set<ResourceID> concerned(IwarpNode node, EventSourceContext<IwarpNicPolicy> context) {
        Stream<String> asked = node.getSpec() == null
                ? Stream.of()
                : node.getSpec().policies().stream().map(NodePolicy::name);
        Stream<String> ruled = node.getStatus() == null
                ? Stream.of()
                : node.getStatus().nics().stream().map(NicStatus::policy).filter(Objects::nonNull);
        Stream<String> ending = context.getPrimaryCache()
                .list(IwarpNicPolicy::isMarkedForDeletion)
                .map(policy -> policy.getMetadata().getName());
        return Stream.of(asked, ruled, ending)
                .flatMap(names -> names)
                .map(ResourceID::new)
                .collect(Collectors.toCollection(HashSet::new));
    }

    @Override
    public UpdateControl<IwarpNicPolicy> reconcile(IwarpNicPolicy policy, Context<IwarpNicPolicy> context) {
        Optional<IwarpNicPolicyStatus> former = Optional.ofNullable(policy.getStatus());
        List<StatusCondition> conditions =
                former.map(IwarpNicPolicyStatus::conditions).orElseGet(List::of);
        IwarpNicPolicyStatus status = PolicyRollup.of(
                policy.getMetadata().getName(),
                policy.getMetadata().getGeneration(),
                conditions,
                Objects.requireNonNull(nodes).list().toList());
        if (former.isPresent() && former.get().equals(status)) {
            return UpdateControl.noUpdate();
        }
        events.transition(policy, conditions, status.conditions());
        IwarpNicPolicy patch = new IwarpNicPolicy();
        patch.setMetadata(
                new ObjectMetaBuilder().withName(policy.getMetadata().getName()).build());
        patch.setStatus(status);
        return UpdateControl.patchStatus(patch);
    }

    @Override
    public DeleteControl cleanup(IwarpNicPolicy policy, Context<IwarpNicPolicy> context) {
        List<String> waiting = PolicyRollup.notRestored(
                policy.getMetadata().getName(),
                Objects.requireNonNull(nodes).list().toList());
        if (waiting.isEmpty()) {
            return DeleteControl.defaultDelete();
        }
        Instant deleted = Instant.parse(policy.getMetadata().getDeletionTimestamp());
        if (deleted.plus(config.restoreTimeout()).isBefore(Instant.now())) {
            events.warn(
                    policy,
                    "RestoreTimedOut",
                    "nodes did not answer: " + String.join(", ", waiting)
                            + "; they restore their NICs when their node agents are back");
            return DeleteControl.defaultDelete();
        }
        return DeleteControl.noFinalizerRemoval().rescheduleAfter(RESTORE_CHECK.toMillis());
    }
}
