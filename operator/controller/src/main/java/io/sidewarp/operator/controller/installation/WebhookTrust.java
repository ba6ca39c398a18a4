// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jboss.logging.Logger;

/**
 * Writes the webhook's authorities and the owner into the chart's webhook configuration. The owner is the Namespace: if
 * it is deleted, the configuration goes with it, and no pod is refused because of a missing webhook. Everything else in
 * the configuration belongs to the chart.
 */
final class WebhookTrust {
    private static final Logger LOG = Logger.getLogger(WebhookTrust.class);

    /** Name of the configuration that the controller of the former release created. */
    private static final String FORMER = "sidewarp";

    private static final PatchContext MERGE = new PatchContext.Builder()
            .withPatchType(PatchType.STRATEGIC_MERGE)
            .withFieldManager(OperatorConfig.MANAGER)
            .build();

    private final OperatorConfig config;

    WebhookTrust(OperatorConfig config) {
        this.config = config;
    }

    /** Makes the API server trust the authorities, in PEM. */
    void write(KubernetesClient client, MutatingWebhookConfiguration present, String authorities) {
        String bundle = Base64.getEncoder().encodeToString(authorities.getBytes(StandardCharsets.UTF_8));
        Namespace namespace = client.namespaces().withName(config.namespace()).get();
        if (!hasAll(present, bundle, namespace)) {
            configuration(client, config.webhook().configuration())
                    .patch(MERGE, client.getKubernetesSerialization().asJson(patch(present, bundle, namespace)));
            LOG.infof(
                    "event=webhook-configuration-written name=%s",
                    config.webhook().configuration());
        }
        deleteFormer(client);
    }

    /** Makes the API server stop calling the webhook. */
    void end(KubernetesClient client) {
        configuration(client, config.webhook().configuration()).delete();
    }

    private static boolean hasAll(MutatingWebhookConfiguration present, String bundle, Namespace owner) {
        return present.getWebhooks().stream()
                        .allMatch(webhook ->
                                bundle.equals(webhook.getClientConfig().getCaBundle()))
                && present.hasOwnerReferenceFor(owner);
    }

    /** Creates the patch. It contains the names of the webhooks, because the API server merges webhooks by name. */
    private static MutatingWebhookConfiguration patch(
            MutatingWebhookConfiguration present, String bundle, Namespace owner) {
        List<MutatingWebhook> webhooks = present.getWebhooks().stream()
                .map(webhook -> new MutatingWebhookBuilder()
                        .withName(webhook.getName())
                        .withNewClientConfig()
                        .withCaBundle(bundle)
                        .endClientConfig()
                        .build())
                .toList();
        MutatingWebhookConfiguration patch = new MutatingWebhookConfigurationBuilder()
                .withNewMetadata()
                .endMetadata()
                .withWebhooks(webhooks)
                .build();
        patch.addOwnerReference(owner);
        return patch;
    }

    private static void deleteFormer(KubernetesClient client) {
        Resource<MutatingWebhookConfiguration> former = configuration(client, FORMER);
        MutatingWebhookConfiguration present = former.get();
        if (present != null
                && OperatorConfig.MANAGER.equals(
                        Objects.requireNonNullElse(present.getMetadata().getLabels(), Map.of())
                                .get(OperatorConfig.MANAGED_LABEL))) {
            former.delete();
            LOG.infof("event=former-webhook-configuration-deleted name=%s", FORMER);
        }
    }

    static Resource<MutatingWebhookConfiguration> configuration(KubernetesClient client, String name) {
        return client.admissionRegistration()
                .v1()
                .mutatingWebhookConfigurations()
                .withName(name);
    }
}
