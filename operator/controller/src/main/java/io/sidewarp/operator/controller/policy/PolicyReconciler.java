// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.IndexedResourceCache;
import io.javaoperatorsdk.operator.api.reconciler.MaxReconciliationInterval;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.cache.PrunedStore;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.Retries;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import io.sidewarp.operator.controller.network.NetworkObjects;
import io.sidewarp.operator.controller.network.NetworkState;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes the status of policies. Releases a deleted policy when the nodes have restored its NICs. */
@ControllerConfiguration(
        name = "policy",
        finalizerName = SidewarpApi.RESTORE_FINALIZER,
        maxReconciliationInterval =
                @MaxReconciliationInterval(interval = Retries.LOST_EVENT_SECONDS, timeUnit = SECONDS))
@GradualRetry(maxAttempts = Retries.FOR_EVER, maxInterval = Retries.MAX_INTERVAL_MILLIS)
public class PolicyReconciler implements Reconciler<IwarpNicPolicy>, Cleaner<IwarpNicPolicy> {
    private static final Duration RESTORE_CHECK = Duration.ofSeconds(10);

    /**
     * Time until the next check of a policy that other operators refused, or that waits for reports of nodes. They may
     * accept the policy later, when they know the nodes and NICs. A node may also no longer be waited for.
     */
    private static final Duration CHECK = Duration.ofMinutes(1);

    private final OperatorConfig config;
    private final EventRecorder events;
    private final InstalledNetworks networks;
    private final NetworkObjects objects;
    private final NodeStates nodeStates;
    private final StatusPace pace;
    private final SimpleInboundEventSource<IwarpNicPolicy> triggers = new SimpleInboundEventSource<>("networks");
    private @Nullable InformerEventSource<IwarpNode, IwarpNicPolicy> nodes;

    public PolicyReconciler(
            OperatorConfig config,
            EventRecorder events,
            InstalledNetworks networks,
            NetworkObjects objects,
            NodeStates nodeStates) {
        this.config = config;
        this.events = events;
        this.networks = networks;
        this.objects = objects;
        this.nodeStates = nodeStates;
        pace = new StatusPace(config.policyStatusInterval(), InstantSource.system());
    }

    @Override
    public List<EventSource<?, IwarpNicPolicy>> prepareEventSources(EventSourceContext<IwarpNicPolicy> context) {
        nodes = new NodeSource(context);
        networks.onInstallation(() -> triggerAll(context.getPrimaryCache(), policy -> true));
        networks.onPolicy(policy -> triggers.propagateEvent(new ResourceID(policy)));
        return List.of(nodes, triggers);
    }

    private void triggerAll(IndexedResourceCache<IwarpNicPolicy> all, Predicate<IwarpNicPolicy> which) {
        all.list(which).map(ResourceID::fromResource).forEach(triggers::propagateEvent);
    }

    /** Returns the policies that a node names, and the policies that are being deleted. */
    private static Set<ResourceID> concerned(IwarpNode node, EventSourceContext<IwarpNicPolicy> context) {
        Set<ResourceID> concerned = named(node);
        context.getPrimaryCache()
                .list(IwarpNicPolicy::isMarkedForDeletion)
                .map(ResourceID::fromResource)
                .forEach(concerned::add);
        return concerned;
    }

    /** Returns the policies in a node's specification, and the policies of its NICs. */
    private static Set<ResourceID> named(IwarpNode node) {
        Stream<String> asked = node.getSpec() == null
                ? Stream.of()
                : node.getSpec().policies().stream().map(NodePolicy::name);
        Stream<String> ruled = node.getStatus() == null
                ? Stream.of()
                : node.getStatus().nics().stream().map(NicStatus::policy).filter(Objects::nonNull);
        return Stream.concat(asked, ruled).map(ResourceID::new).collect(Collectors.toCollection(HashSet::new));
    }

    @Override
    public UpdateControl<IwarpNicPolicy> reconcile(IwarpNicPolicy policy, Context<IwarpNicPolicy> context) {
        String name = policy.getMetadata().getName();
        Long generation = policy.getMetadata().getGeneration();
        Optional<IwarpNicPolicyStatus> former = Optional.ofNullable(policy.getStatus());
        List<StatusCondition> conditions =
                former.map(IwarpNicPolicyStatus::conditions).orElseGet(List::of);
        List<IwarpNode> all = Objects.requireNonNull(nodes).list().toList();
        int rank = (int) context.getPrimaryCache()
                .list(other -> other.getSpec() != null && IwarpNicPolicy.BY_RANK.compare(other, policy) < 0)
                .count();
        int labelled = nodeStates.selected(policy.getSpec().nodeSelector());
        boolean complete = PolicyRollup.isComplete(name, all, labelled, Instant.now(), config.restoreTimeout());
        NetworkState network = objects.apply(policy, rank, all, complete);
        IwarpNicPolicyStatus status = PolicyRollup.of(name, generation, conditions, all, labelled, network);
        if (!former.map(IwarpNicPolicyStatus::observedGeneration).equals(Optional.of(generation))) {
            // The ranks of other policies depend on the priority of this policy.
            triggerAll(
                    context.getPrimaryCache(),
                    other -> !ResourceID.fromResource(other).equals(ResourceID.fromResource(policy)));
        }
        boolean isHeld = !complete && network.provisionedBy() == ProvisionedBy.SRIOV_NETWORK_OPERATOR;
        Optional<Duration> again = isHeld || network.problem().isPresent() ? Optional.of(CHECK) : Optional.empty();
        if (former.isPresent() && former.get().equals(status)) {
            return again(UpdateControl.noUpdate(), again);
        }
        Duration delay = pace.delay(name, former, status);
        if (delay.isPositive()) {
            return again(UpdateControl.noUpdate(), Optional.of(delay));
        }
        events.transition(policy, conditions, status.conditions());
        return again(UpdateControl.patchStatus(patch(policy, status)), again);
    }

    private static IwarpNicPolicy patch(IwarpNicPolicy policy, IwarpNicPolicyStatus status) {
        IwarpNicPolicy patch = new IwarpNicPolicy();
        patch.setMetadata(
                new ObjectMetaBuilder().withName(policy.getMetadata().getName()).build());
        patch.setStatus(status);
        return patch;
    }

    private static UpdateControl<IwarpNicPolicy> again(
            UpdateControl<IwarpNicPolicy> control, Optional<Duration> after) {
        after.ifPresent(control::rescheduleAfter);
        return control;
    }

    @Override
    public DeleteControl cleanup(IwarpNicPolicy policy, Context<IwarpNicPolicy> context) {
        String name = policy.getMetadata().getName();
        Optional<IwarpNicPolicyStatus> former = Optional.ofNullable(policy.getStatus());
        objects.remove(policy);
        List<IwarpNode> all = Objects.requireNonNull(nodes).list().toList();
        List<String> waiting = PolicyRollup.notRestored(name, all);
        if (waiting.isEmpty()) {
            pace.forget(name);
            return DeleteControl.defaultDelete();
        }
        Instant deleted = Instant.parse(policy.getMetadata().getDeletionTimestamp());
        if (deleted.plus(config.restoreTimeout()).isBefore(Instant.now())) {
            pace.forget(name);
            events.warn(
                    policy,
                    "RestoreTimedOut",
                    "no longer waiting for nodes that have not restored their NICs: " + String.join(", ", waiting)
                            + "; their node agents restore them later, when they run and no pod uses the devices");
            return DeleteControl.defaultDelete();
        }
        IwarpNicPolicyStatus status =
                PolicyRollup.restoring(name, policy.getMetadata().getGeneration(), former, all, waiting);
        Duration again = tell(policy, status, context);
        return DeleteControl.noFinalizerRemoval().rescheduleAfter(again.toMillis());
    }

    /**
     * Writes the status of a deleted policy when the minimum interval has passed. Returns the time until the next
     * check.
     */
    private Duration tell(IwarpNicPolicy policy, IwarpNicPolicyStatus status, Context<IwarpNicPolicy> context) {
        Optional<IwarpNicPolicyStatus> former = Optional.ofNullable(policy.getStatus());
        if (former.equals(Optional.of(status))) {
            return RESTORE_CHECK;
        }
        Duration delay = pace.delay(policy.getMetadata().getName(), former, status);
        if (delay.isPositive()) {
            return delay.compareTo(RESTORE_CHECK) < 0 ? delay : RESTORE_CHECK;
        }
        events.transition(
                policy, former.map(IwarpNicPolicyStatus::conditions).orElseGet(List::of), status.conditions());
        context.resourceOperations().serverSideApplyPrimaryStatus(patch(policy, status));
        return RESTORE_CHECK;
    }

    /** Returns whether an update only renews the time of the agent's report. */
    private static boolean isMereReport(IwarpNode updated, IwarpNode former) {
        return Objects.equals(updated.getSpec(), former.getSpec())
                && Objects.equals(
                        updated.getMetadata().getGeneration(),
                        former.getMetadata().getGeneration())
                && updated.isMarkedForDeletion() == former.isMarkedForDeletion()
                && updated.reported().isPresent()
                && updated.getStatus()
                        .reportedAt(null)
                        .equals(former.reported()
                                .map(status -> status.reportedAt(null))
                                .orElse(null));
    }

    /** Also triggers policies that a node named before its update. The mapper sees only the updated node. */
    private final class NodeSource extends InformerEventSource<IwarpNode, IwarpNicPolicy> {
        NodeSource(EventSourceContext<IwarpNicPolicy> context) {
            super(
                    InformerEventSourceConfiguration.from(IwarpNode.class, IwarpNicPolicy.class)
                            .withName("iwarp-nodes")
                            .withItemStore(PrunedStore.withoutManagedFields())
                            .withInformerListLimit(PrunedStore.LIST_LIMIT)
                            .withSecondaryToPrimaryMapper(node -> concerned(node, context))
                            .withOnUpdateFilter((updated, former) -> !isMereReport(updated, former))
                            .build(),
                    context);
        }

        @Override
        public void onUpdate(IwarpNode former, IwarpNode updated) {
            super.onUpdate(former, updated);
            Set<ResourceID> dropped = named(former);
            dropped.removeAll(named(updated));
            dropped.forEach(triggers::propagateEvent);
        }
    }
}
