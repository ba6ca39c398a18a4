// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
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
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.cache.NodeLabels;
import io.sidewarp.operator.controller.cache.PrunedStore;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.Retries;
import io.sidewarp.operator.controller.installation.Uninstallation;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Creates an {@link IwarpNode} for each node, with the policies that apply to the node. Changes of a node are ignored
 * unless its labels change, because heartbeats are frequent. The node owns the IwarpNode, so both are deleted together.
 */
@ControllerConfiguration(
        name = "node",
        generationAwareEventProcessing = false,
        informer =
                @Informer(
                        onUpdateFilter = NodeReconciler.LabelsChanged.class,
                        itemStore = NodeReconciler.LabelStore.class,
                        informerListLimit = PrunedStore.LIST_LIMIT))
@GradualRetry(maxAttempts = Retries.FOR_EVER, maxInterval = Retries.MAX_INTERVAL_MILLIS)
public class NodeReconciler implements Reconciler<Node> {
    private final OperatorConfig config;
    private final InstalledNetworks networks;
    private final NodeLabels nodeLabels;
    private final Uninstallation uninstallation;
    private final ClusterFeatures features;
    private @Nullable InformerEventSource<IwarpNicPolicy, Node> policies;

    public NodeReconciler(
            OperatorConfig config,
            InstalledNetworks networks,
            NodeLabels nodeLabels,
            Uninstallation uninstallation,
            ClusterFeatures features) {
        this.config = config;
        this.networks = networks;
        this.nodeLabels = nodeLabels;
        this.uninstallation = uninstallation;
        this.features = features;
    }

    @Override
    public List<EventSource<?, Node>> prepareEventSources(EventSourceContext<Node> context) {
        // The cache is set here and not at the first node: policies need it before, and there may be no node.
        nodeLabels.know(context.getPrimaryCache());
        InformerEventSource<IwarpNode, Node> nodes = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(IwarpNode.class, Node.class)
                        .withName("iwarp-nodes")
                        .withItemStore(new SpecificationStore())
                        .withInformerListLimit(PrunedStore.LIST_LIMIT)
                        .withSecondaryToPrimaryMapper(
                                node -> Set.of(new ResourceID(node.getMetadata().getName())))
                        .withOnUpdateFilter((updated, former) -> !sameGeneration(updated, former))
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
        Stream<ResourceID> selected = all.list(node -> NodeAssignment.isSelected(NodeLabels.of(node), policy))
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
                        NodeLabels.of(node),
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
        return UpdateControl.noUpdate();
    }

    /** Keeps only the parts of IwarpNodes that this reconciler compares, without the status from the agents. */
    private static final class SpecificationStore extends PrunedStore<IwarpNode> {
        SpecificationStore() {
            super(node -> {
                node.getMetadata().setManagedFields(List.of());
                node.setStatus(null);
                return node;
            });
        }
    }

    /**
     * Keeps only the identity and the labels of a node, because nothing else is read. The list of images of a node
     * alone can take 10 KiB.
     */
    public static final class LabelStore extends PrunedStore<Node> {

        /** Creates an empty store. */
        public LabelStore() {
            super(LabelStore::prune);
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
                    .build();
        }
    }

    /** Accepts changes of a node that can change which policies apply to it. */
    public static final class LabelsChanged implements OnUpdateFilter<Node> {

        @Override
        public boolean accept(Node updated, Node former) {
            return !NodeLabels.of(updated).equals(NodeLabels.of(former));
        }
    }
}
