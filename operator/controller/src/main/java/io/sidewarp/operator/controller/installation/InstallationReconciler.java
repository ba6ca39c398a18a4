// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
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
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.Retries;
import io.sidewarp.operator.controller.webhook.CertificateStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Creates what the chart describes in its ConfigMap: the node agents, and the webhook configuration with the authorities of
 * the certificate that the webhook has. Both go with the chart, since objects of the chart own them.
 */
@ControllerConfiguration(
        name = "installation",
        generationAwareEventProcessing = false,
        informer = @Informer(labelSelector = InstallationReconciler.SELECTOR))
@GradualRetry(maxAttempts = Retries.FOR_EVER, maxInterval = Retries.MAX_INTERVAL_MILLIS)
public class InstallationReconciler implements Reconciler<ConfigMap> {
    static final String SELECTOR = "app.kubernetes.io/component=installation";

    /** Key of the ConfigMap: the DaemonSet of the node agents. */
    static final String NODE_AGENT = "node-agent.yaml";

    /** Key of the ConfigMap: the MutatingWebhookConfiguration. */
    static final String WEBHOOK = "webhook.yaml";

    /** Annotation of the ConfigMap. {@code true}: all of it shall go, node agents last, since they restore the NICs. */
    static final String UNINSTALLING = "sidewarp.io/uninstalling";

    private static final Logger LOG = Logger.getLogger(InstallationReconciler.class);
    private static final String FIELD_MANAGER = "sidewarp-controller";
    private static final String MANAGED = "app.kubernetes.io/managed-by=sidewarp-controller";
    private static final Duration CERTIFICATE_CHECK = Duration.ofMinutes(10);
    private static final Duration UNINSTALL_CHECK = Duration.ofSeconds(1);

    private final OperatorConfig config;
    private final CertificateStore certificates;
    private final Uninstallation uninstallation;

    public InstallationReconciler(OperatorConfig config, CertificateStore certificates, Uninstallation uninstallation) {
        this.config = config;
        this.certificates = certificates;
        this.uninstallation = uninstallation;
    }

    @Override
    public List<EventSource<?, ConfigMap>> prepareEventSources(EventSourceContext<ConfigMap> context) {
        ResourceID installation = new ResourceID(config.installation(), config.namespace());
        InformerEventSource<DaemonSet, ConfigMap> nodeAgents = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(DaemonSet.class, ConfigMap.class)
                        .withName("node-agents")
                        .withNamespaces(Set.of(config.namespace()))
                        .withLabelSelector(MANAGED)
                        .withSecondaryToPrimaryMapper(daemonSet -> Set.of(installation))
                        .build(),
                context);
        InformerEventSource<MutatingWebhookConfiguration, ConfigMap> webhooks = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(MutatingWebhookConfiguration.class, ConfigMap.class)
                        .withName("webhooks")
                        .withLabelSelector(MANAGED)
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
        DaemonSet nodeAgent = part(client, installation, NODE_AGENT, DaemonSet.class);
        nodeAgent.getMetadata().setNamespace(config.namespace());
        MutatingWebhookConfiguration webhook = part(client, installation, WEBHOOK, MutatingWebhookConfiguration.class);
        uninstallation.set(isUninstalling(installation));
        if (uninstallation.isUnderWay()) {
            return uninstall(client, nodeAgent, webhook);
        }
        KubernetesClientException refused = null;
        try {
            apply(client, nodeAgent, owner(installation));
        } catch (KubernetesClientException e) {
            // Sidecars do not depend on whether node agents are admitted.
            refused = e;
        }
        UpdateControl<ConfigMap> next = applyWebhook(client, webhook);
        if (refused != null) {
            throw refused;
        }
        return next;
    }

    private UpdateControl<ConfigMap> applyWebhook(KubernetesClient client, MutatingWebhookConfiguration webhook) {
        Optional<String> authorities = certificates.authorities();
        if (authorities.isEmpty()) {
            LOG.info("event=webhook-configuration-waits reason=\"there is no certificate yet\"");
            return UpdateControl.noUpdate();
        }
        String bundle = Base64.getEncoder().encodeToString(authorities.get().getBytes(StandardCharsets.UTF_8));
        for (MutatingWebhook entry : webhook.getWebhooks()) {
            entry.getClientConfig().setCaBundle(bundle);
        }
        ClusterRole role =
                client.rbac().clusterRoles().withName(config.clusterRole()).get();
        apply(client, webhook, role == null ? null : owner(role));
        return UpdateControl.<ConfigMap>noUpdate().rescheduleAfter(CERTIFICATE_CHECK);
    }

    private static boolean isUninstalling(ConfigMap installation) {
        Map<String, String> annotations = installation.getMetadata().getAnnotations();
        return annotations != null && "true".equals(annotations.get(UNINSTALLING));
    }

    private UpdateControl<ConfigMap> uninstall(
            KubernetesClient client, DaemonSet nodeAgent, MutatingWebhookConfiguration webhook) {
        client.resource(webhook).delete();
        if (client.resources(IwarpNicPolicy.class).list().getItems().isEmpty() && uninstallation.areNodesReleased()) {
            client.resource(nodeAgent).delete();
            return UpdateControl.noUpdate();
        }
        return UpdateControl.<ConfigMap>noUpdate().rescheduleAfter(UNINSTALL_CHECK);
    }

    private static <T extends HasMetadata> T part(
            KubernetesClient client, ConfigMap installation, String key, Class<T> type) {
        String yaml =
                installation.getData() == null ? null : installation.getData().get(key);
        if (yaml == null) {
            throw new IllegalStateException(
                    "ConfigMap " + installation.getMetadata().getName() + " has no key " + key
                            + "; install the chart again, it writes it");
        }
        return client.getKubernetesSerialization().unmarshal(yaml, type);
    }

    private static void apply(KubernetesClient client, HasMetadata resource, @Nullable OwnerReference owner) {
        if (owner != null) {
            resource.getMetadata().setOwnerReferences(List.of(owner));
        }
        client.resource(resource).fieldManager(FIELD_MANAGER).forceConflicts().serverSideApply();
    }

    private static OwnerReference owner(HasMetadata resource) {
        return new OwnerReferenceBuilder()
                .withApiVersion(resource.getApiVersion())
                .withKind(resource.getKind())
                .withName(resource.getMetadata().getName())
                .withUid(resource.getMetadata().getUid())
                .build();
    }
}
