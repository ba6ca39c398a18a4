// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.config.informer.FieldSelectorBuilder;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.config.LeaderElection;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.Retries;
import io.sidewarp.operator.controller.webhook.CertificateStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jboss.logging.Logger;

/**
 * Creates the node agents that the chart's ConfigMap describes, and deletes them with the chart. Makes the API server
 * trust the webhook's certificate. Spreads the replicas of the controller over nodes.
 */
@ControllerConfiguration(
        name = "installation",
        generationAwareEventProcessing = false,
        informer = @Informer(labelSelector = InstallationReconciler.SELECTOR))
@GradualRetry(maxAttempts = Retries.FOR_EVER, maxInterval = Retries.MAX_INTERVAL_MILLIS)
public class InstallationReconciler implements Reconciler<ConfigMap> {
    static final String SELECTOR = "app.kubernetes.io/component=installation";

    /** Key of the ConfigMap for the DaemonSet of the node agents. */
    static final String NODE_AGENT = "node-agent.yaml";

    /**
     * Annotation of the ConfigMap. {@code true} requests the removal of the whole installation. Node agents are removed
     * last, because they restore the NICs.
     */
    static final String UNINSTALLING = "sidewarp.io/uninstalling";

    private static final Logger LOG = Logger.getLogger(InstallationReconciler.class);
    private static final Duration CHECK = Duration.ofMinutes(1);
    private static final Duration UNINSTALL_CHECK = Duration.ofSeconds(1);
    /** Time between two lists of all ResourceClaims. */
    private static final Duration CLAIM_CHECK = Duration.ofSeconds(5);

    private final OperatorConfig config;
    private final CertificateStore certificates;
    private final Uninstallation uninstallation;
    private final WebhookTrust webhookTrust;
    private final ReplicaSpread spread;

    public InstallationReconciler(
            OperatorConfig config,
            CertificateStore certificates,
            Uninstallation uninstallation,
            NodeStates nodes,
            EventRecorder events) {
        this.config = config;
        this.certificates = certificates;
        this.uninstallation = uninstallation;
        webhookTrust = new WebhookTrust(config);
        spread = new ReplicaSpread(config, nodes::all, events, LeaderElection.identity());
    }

    @Override
    public List<EventSource<?, ConfigMap>> prepareEventSources(EventSourceContext<ConfigMap> context) {
        ResourceID installation = new ResourceID(config.installation(), config.namespace());
        InformerEventSource<DaemonSet, ConfigMap> nodeAgents = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(DaemonSet.class, ConfigMap.class)
                        .withName("node-agents")
                        .withNamespaces(Set.of(config.namespace()))
                        .withLabelSelector(OperatorConfig.MANAGED_LABEL + "=" + OperatorConfig.MANAGER)
                        .withSecondaryToPrimaryMapper(daemonSet -> Set.of(installation))
                        .build(),
                context);
        InformerEventSource<MutatingWebhookConfiguration, ConfigMap> webhooks = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(MutatingWebhookConfiguration.class, ConfigMap.class)
                        .withName("webhooks")
                        // The default is the controller's namespace, where cluster-scoped objects would not be found.
                        .withWatchAllNamespaces()
                        .withFieldSelector(new FieldSelectorBuilder()
                                .withField("metadata.name", config.webhook().configuration())
                                .build())
                        .withSecondaryToPrimaryMapper(webhook -> Set.of(installation))
                        .build(),
                context);
        SimpleInboundEventSource<ConfigMap> authorities = new SimpleInboundEventSource<>("webhook-authorities");
        certificates.onAuthorities(() -> authorities.propagateEvent(installation));
        return List.of(nodeAgents, webhooks, authorities);
    }

    @Override
    public UpdateControl<ConfigMap> reconcile(ConfigMap installation, Context<ConfigMap> context) {
        if (!installation.getMetadata().getName().equals(config.installation())) {
            return UpdateControl.noUpdate();
        }
        KubernetesClient client = context.getClient();
        DaemonSet nodeAgent = nodeAgent(client, installation);
        nodeAgent.getMetadata().setNamespace(config.namespace());
        uninstallation.set(isUninstalling(installation));
        if (uninstallation.isUnderWay()) {
            return uninstall(client, nodeAgent);
        }
        KubernetesClientException refused = null;
        try {
            nodeAgent.addOwnerReference(installation);
            client.resource(nodeAgent)
                    .fieldManager(OperatorConfig.MANAGER)
                    .forceConflicts()
                    .serverSideApply();
        } catch (KubernetesClientException e) {
            // Sidecars do not need admitted node agents. So the webhook is set up before the failure is thrown.
            refused = e;
        }
        trustWebhook(client, context.getSecondaryResource(MutatingWebhookConfiguration.class));
        spread.check(client, Instant.now());
        if (refused != null) {
            throw refused;
        }
        return UpdateControl.<ConfigMap>noUpdate().rescheduleAfter(CHECK);
    }

    private void trustWebhook(KubernetesClient client, Optional<MutatingWebhookConfiguration> configuration) {
        Optional<String> authorities = certificates.authorities();
        if (authorities.isEmpty()) {
            LOG.info("event=webhook-configuration-waits reason=\"there is no certificate yet\"");
            return;
        }
        if (configuration.isEmpty()) {
            LOG.warnf(
                    "event=webhook-configuration-missing name=%s action=\"no pod gets a sidecar; install the chart again\"",
                    config.webhook().configuration());
            return;
        }
        webhookTrust.write(client, configuration.get(), authorities.get());
    }

    private static boolean isUninstalling(ConfigMap installation) {
        Map<String, String> annotations = installation.getMetadata().getAnnotations();
        return annotations != null && "true".equals(annotations.get(UNINSTALLING));
    }

    private UpdateControl<ConfigMap> uninstall(KubernetesClient client, DaemonSet nodeAgent) {
        webhookTrust.end(client);
        if (client.resources(IwarpNicPolicy.class).list().getItems().isEmpty() && uninstallation.areNodesReleased()) {
            if (!uninstallation.areClaimsReleased()) {
                return UpdateControl.<ConfigMap>noUpdate().rescheduleAfter(CLAIM_CHECK);
            }
            client.resource(nodeAgent).delete();
            return UpdateControl.noUpdate();
        }
        return UpdateControl.<ConfigMap>noUpdate().rescheduleAfter(UNINSTALL_CHECK);
    }

    private static DaemonSet nodeAgent(KubernetesClient client, ConfigMap installation) {
        String yaml =
                installation.getData() == null ? null : installation.getData().get(NODE_AGENT);
        if (yaml == null) {
            throw new IllegalStateException(
                    "ConfigMap " + installation.getMetadata().getName() + " has no key " + NODE_AGENT
                            + "; install the chart again, it writes it");
        }
        return client.getKubernetesSerialization().unmarshal(yaml, DaemonSet.class);
    }
}
