// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.IndexedResourceCache;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.filter.OnUpdateFilter;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.PodEviction;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.api.v1alpha1.StatusCondition.State;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.cache.PrunedStore;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.Retries;
import io.sidewarp.operator.controller.installation.AgentPods;
import io.sidewarp.operator.controller.installation.Uninstallation;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Creates an {@link IwarpNode} for each node, with the policies that apply to the node. Reports nodes whose agent does
 * not report. Changes of a node are ignored unless its labels or its readiness change, because heartbeats are frequent.
 * The node owns the IwarpNode, so both are deleted together.
 */
@ControllerConfiguration(
        name = "node",
        generationAwareEventProcessing = false,
        informer =
                @Informer(
                        onUpdateFilter = NodeReconciler.ReadPartChanged.class,
                        itemStore = NodeReconciler.NodeStore.class,
                        informerListLimit = PrunedStore.LIST_LIMIT))
@GradualRetry(maxAttempts = Retries.FOR_EVER, maxInterval = Retries.MAX_INTERVAL_MILLIS)
public class NodeReconciler implements Reconciler<Node> {
    /** Has a field manager of its own, so that an apply of this part cannot give up fields of the specification. */
    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(OperatorConfig.MANAGER + "-status")
            .withForce(true)
            .build();

    private static final Duration EVICTION_RETRY = Duration.ofSeconds(10);

    private final OperatorConfig config;
    private final InstalledNetworks networks;
    private final NodeStates nodeStates;
    private final Uninstallation uninstallation;
    private final ClusterFeatures features;
    private final AgentPods agentPods;
    private final EventRecorder events;
    private @Nullable InformerEventSource<IwarpNicPolicy, Node> policies;
    private @Nullable PodEvictions evictions;

    public NodeReconciler(
            OperatorConfig config,
            InstalledNetworks networks,
            NodeStates nodeStates,
            Uninstallation uninstallation,
            ClusterFeatures features,
            AgentPods agentPods,
            EventRecorder events) {
        this.config = config;
        this.agentPods = agentPods;
        this.events = events;
        this.networks = networks;
        this.nodeStates = nodeStates;
        this.uninstallation = uninstallation;
        this.features = features;
    }

    @Override
    public List<EventSource<?, Node>> prepareEventSources(EventSourceContext<Node> context) {
        // The cache is set here and not at the first node: policies need it before, and there may be no node.
        nodeStates.know(context.getPrimaryCache());
        evictions = new PodEvictions(context.getClient(), events);
        InformerEventSource<IwarpNode, Node> nodes = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(IwarpNode.class, Node.class)
                        .withName("iwarp-nodes")
                        .withItemStore(new ReadPartStore())
                        .withInformerListLimit(PrunedStore.LIST_LIMIT)
                        .withSecondaryToPrimaryMapper(
                                node -> Set.of(new ResourceID(node.getMetadata().getName())))
                        .withOnUpdateFilter((updated, former) -> !sameGeneration(updated, former)
                                || !evictions(updated).equals(evictions(former))
                                || (isSilent(former) && !reportTime(updated).equals(reportTime(former))))
                        .build(),
                context);
        policies = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(IwarpNicPolicy.class, Node.class)
                        .withName("policies")
                        .withSecondaryToPrimaryMapper(policy -> concerned(policy, context.getPrimaryCache(), nodes))
                        .withOnUpdateFilter((updated, former) -> !sameGeneration(updated, former)
                                || updated.isMarkedForDeletion() != former.isMarkedForDeletion())
                        .build(),
                context);
        SimpleInboundEventSource<Node> cluster = new SimpleInboundEventSource<>("cluster");
        Runnable all = () ->
                context.getPrimaryCache().list().map(ResourceID::fromResource).forEach(cluster::propagateEvent);
        networks.onInstallation(all);
        features.onChange(all);
        uninstallation.onChange(all);
        return List.of(policies, nodes, cluster);
    }

    /**
     * Returns the nodes that a policy selects, and the nodes whose IwarpNode names the policy. A node whose IwarpNode
     * is being written is reconciled again when the IwarpNode is in the cache.
     */
    private static Set<ResourceID> concerned(
            IwarpNicPolicy policy, IndexedResourceCache<Node> all, InformerEventSource<IwarpNode, Node> nodes) {
        Stream<ResourceID> selected = all.list(node -> NodeAssignment.isSelected(NodeStates.labels(node), policy))
                .map(ResourceID::fromResource);
        Stream<ResourceID> told = nodes.list(node -> node.getSpec() != null
                        && node.getSpec().policies().stream()
                                .anyMatch(part ->
                                        part.name().equals(policy.getMetadata().getName())))
                .map(ResourceID::fromResource);
        return Stream.concat(selected, told).collect(Collectors.toSet());
    }

    private static boolean sameGeneration(HasMetadata updated, HasMetadata former) {
        return Objects.equals(
                updated.getMetadata().getGeneration(), former.getMetadata().getGeneration());
    }

    @Override
    public UpdateControl<Node> reconcile(Node node, Context<Node> context) {
        if (node.isMarkedForDeletion()) {
            return UpdateControl.noUpdate();
        }
        IwarpNodeSpec spec = uninstallation.isUnderWay()
                ? NodeAssignment.NOTHING
                : NodeAssignment.of(
                        NodeStates.labels(node),
                        Objects.requireNonNull(policies).list().toList(),
                        config.unselected(),
                        networks.hasSriovOperator(),
                        features.has(KubernetesFeature.RESOURCE_CLAIMS));
        Optional<IwarpNode> present = context.getSecondaryResource(IwarpNode.class);
        if (present.isEmpty()
                || !spec.equals(present.get().getSpec())
                || !present.get().hasOwnerReferenceFor(node)) {
            IwarpNode desired = new IwarpNode();
            desired.setMetadata(new ObjectMetaBuilder()
                    .withName(node.getMetadata().getName())
                    .build());
            desired.addOwnerReference(node);
            desired.setSpec(spec);
            context.getClient()
                    .resource(desired)
                    .fieldManager(OperatorConfig.MANAGER)
                    .forceConflicts()
                    .serverSideApply();
        }
        if (present.isEmpty()) {
            return UpdateControl.noUpdate();
        }
        AgentReporting reporting = AgentReporting.of(node, present.get(), agentPods::refusal, Instant.now());
        tell(present.get(), reporting, context.getClient());
        UpdateControl<Node> control = UpdateControl.noUpdate();
        if (Objects.requireNonNull(evictions).carryOut(present.get())) {
            return control.rescheduleAfter(EVICTION_RETRY);
        }
        reporting.recheck().ifPresent(control::rescheduleAfter);
        return control;
    }

    /**
     * Writes whether the agent reports. The condition belongs to the controller; the rest of the status belongs to the
     * agent. A node that has reported without a break has no such condition, so that a node costs no additional write.
     */
    private void tell(IwarpNode present, AgentReporting reporting, KubernetesClient client) {
        List<StatusCondition> former = present.agentReporting().stream().toList();
        if (reporting.problem().isEmpty() && former.stream().allMatch(StatusCondition::holds)) {
            return;
        }
        StatusCondition condition = StatusCondition.of(
                former,
                reporting
                        .problem()
                        .orElseGet(() -> new State(
                                StatusCondition.AGENT_REPORTING, "Reporting", "The node agent reports again.")),
                reporting.problem().isEmpty());
        if (former.equals(List.of(condition))) {
            return;
        }
        // Members that are absent from the patch stay the agent's.
        Map<String, Object> patch = Map.of(
                "apiVersion",
                present.getApiVersion(),
                "kind",
                present.getKind(),
                "metadata",
                Map.of("name", present.getMetadata().getName()),
                "status",
                Map.of("conditions", List.of(condition)));
        client.resources(IwarpNode.class)
                .withName(present.getMetadata().getName())
                .subresource("status")
                .patch(APPLY, client.getKubernetesSerialization().asJson(patch));
        if (condition.holds()) {
            events.inform(present, condition.reason(), condition.message());
        } else {
            events.warn(present, condition.reason(), condition.message());
        }
    }

    private static boolean isSilent(IwarpNode node) {
        return node.agentReporting().filter(condition -> !condition.holds()).isPresent();
    }

    private static Optional<String> reportTime(IwarpNode node) {
        // The generation stands for the time in reports of agents that report no time.
        return node.reported()
                .map(status -> Optional.ofNullable(status.lastReportTime())
                        .orElseGet(() -> String.valueOf(status.observedGeneration())));
    }

    private static List<PodEviction> evictions(IwarpNode node) {
        return node.getStatus() == null ? List.of() : node.getStatus().evictions();
    }

    /** Keeps only the parts of IwarpNodes that this reconciler reads, without most of the agents' reports. */
    private static final class ReadPartStore extends PrunedStore<IwarpNode> {
        ReadPartStore() {
            super(ReadPartStore::prune);
        }

        private static IwarpNode prune(IwarpNode node) {
            node.getMetadata().setManagedFields(List.of());
            IwarpNodeStatus status = node.getStatus();
            if (status != null) {
                node.setStatus(new IwarpNodeStatus(
                        status.observedGeneration(),
                        null,
                        null,
                        List.of(),
                        null,
                        null,
                        null,
                        null,
                        node.agentReporting().stream().toList(),
                        status.lastReportTime(),
                        status.evictions()));
            }
            return node;
        }
    }

    /**
     * Keeps only the identity, the labels, the readiness and the taints of a node, because nothing else is read. The
     * list of images of a node alone can take 10 KiB.
     */
    public static final class NodeStore extends PrunedStore<Node> {

        /** Creates an empty store. */
        public NodeStore() {
            super(NodeStore::prune);
        }

        private static Node prune(Node node) {
            ObjectMeta metadata = node.getMetadata();
            return new NodeBuilder()
                    .withNewMetadata()
                    .withName(metadata.getName())
                    .withUid(metadata.getUid())
                    .withResourceVersion(metadata.getResourceVersion())
                    .withGeneration(metadata.getGeneration())
                    .withDeletionTimestamp(metadata.getDeletionTimestamp())
                    .withLabels(metadata.getLabels())
                    .endMetadata()
                    .withNewSpec()
                    .withTaints(
                            node.getSpec() == null ? List.of() : node.getSpec().getTaints())
                    .withUnschedulable(
                            node.getSpec() == null ? null : node.getSpec().getUnschedulable())
                    .endSpec()
                    .withNewStatus()
                    .withConditions(NodeStates.readiness(node).stream().toList())
                    .endStatus()
                    .build();
        }
    }

    /** Accepts changes of a node that can change which policies apply to it, or whether its agent can report. */
    public static final class ReadPartChanged implements OnUpdateFilter<Node> {

        @Override
        public boolean accept(Node updated, Node former) {
            return !NodeStates.labels(updated).equals(NodeStates.labels(former))
                    || !NodeStates.whyNotReady(updated).equals(NodeStates.whyNotReady(former));
        }
    }
}
