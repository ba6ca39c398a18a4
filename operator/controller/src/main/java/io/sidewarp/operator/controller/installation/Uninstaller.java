// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.controller.config.LeaderElection;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jboss.logging.Logger;

/**
 * Clean-up that the chart runs before it deletes its objects. The controller still runs: it removes the webhook,
 * restores the NICs of all policies, and then removes the node agents. The clean-up requests this removal and waits for
 * its end. Then it stops the controller, and deletes the objects that a running controller would create again.
 */
@ApplicationScoped
public class Uninstaller {
    private static final Logger LOG = Logger.getLogger(Uninstaller.class);
    private static final Duration POLL = Duration.ofSeconds(1);
    /** Time between two lists of all ResourceClaims while pods hold claims. */
    private static final Duration CLAIM_POLL = Duration.ofSeconds(5);
    /** Time to wait beyond the timeout after which the controller gives up policies of nodes that do not answer. */
    private static final Duration MARGIN = Duration.ofMinutes(1);

    private static final String COMPONENT_LABEL = "app.kubernetes.io/component";

    private final KubernetesClient client;
    private final OperatorConfig config;

    public Uninstaller(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /**
     * Cleans up.
     *
     * @return whether nothing is left
     */
    public boolean run() throws InterruptedException {
        ConfigMap installation = client.configMaps()
                .inNamespace(config.namespace())
                .withName(config.installation())
                .edit(configMap -> new ConfigMapBuilder(configMap)
                        .editMetadata()
                        .addToAnnotations(InstallationReconciler.UNINSTALLING, "true")
                        .endMetadata()
                        .build());
        LOG.infof("event=uninstalling configmap=%s", installation.getMetadata().getName());
        // Policies are deleted one by one, because deleting a collection needs a permission of its own.
        client.resources(IwarpNicPolicy.class)
                .list()
                .getItems()
                .forEach(policy -> client.resource(policy).delete());
        // The time is measured with a monotonic clock.
        long begin = System.nanoTime();
        long patience = config.restoreTimeout().plus(MARGIN).toNanos();
        BooleanSupplier inTime = () -> System.nanoTime() - begin < patience;
        List<String> left = left();
        List<String> told = List.of();
        while (!left.isEmpty() && inTime.getAsBoolean()) {
            List<String> held = HeldClaims.list(client);
            if (!held.isEmpty() && !held.equals(told)) {
                LOG.warnf(
                        "event=claims-held claims=\"%s\" action=\"end these pods; the node agents are removed after"
                                + " them, because without a node agent they cannot end\"",
                        String.join(", ", held));
            }
            told = held;
            Thread.sleep(held.isEmpty() ? POLL : CLAIM_POLL);
            left = left();
        }
        if (left.isEmpty()) {
            stopController(inTime);
            deleteWhatTheControllerWouldMakeAgain();
            LOG.info("event=uninstalled");
            return true;
        }
        LOG.errorf(
                "event=not-uninstalled left=\"%s\" action=\"see the controller's log; delete these by hand\"",
                String.join(", ", left));
        return false;
    }

    private void stopController(BooleanSupplier inTime) throws InterruptedException {
        client.apps()
                .deployments()
                .inNamespace(config.namespace())
                .withName(config.deployment())
                .scale(0);
        while (inTime.getAsBoolean()
                && client
                        .pods()
                        .inNamespace(config.namespace())
                        .withLabel(COMPONENT_LABEL, "controller")
                        .list()
                        .getItems()
                        .stream()
                        .anyMatch(pod -> !LeaderElection.hasEnded(pod))) {
            Thread.sleep(POLL);
        }
    }

    private void deleteWhatTheControllerWouldMakeAgain() {
        // A certificate of cert-manager does not belong to the controller.
        deleteOwn(config.webhook().certificateSecret());
        if (config.identity().enabled()) {
            deleteOwn(config.identity().secret());
        }
        client.leases()
                .inNamespace(config.namespace())
                .withName(config.leaderElection().lease())
                .delete();
        deleteClaimTemplates();
    }

    /** Deletes a Secret if the controller has created it. */
    private void deleteOwn(String name) {
        Secret secret =
                client.secrets().inNamespace(config.namespace()).withName(name).get();
        if (secret != null
                && Objects.requireNonNullElse(secret.getMetadata().getLabels(), Map.<String, String>of())
                        .getOrDefault(OperatorConfig.MANAGED_LABEL, "")
                        .equals(OperatorConfig.MANAGER)) {
            client.resource(secret).delete();
        }
    }

    /** Deletes the templates of claims of all profiles. Profiles may stay, and the DeviceClass goes. */
    private void deleteClaimTemplates() {
        try {
            client.resources(ResourceClaimTemplate.class)
                    .inAnyNamespace()
                    .withLabel(OperatorConfig.MANAGED_LABEL, OperatorConfig.MANAGER)
                    .list()
                    .getItems()
                    .forEach(template -> client.resource(template).delete());
        } catch (KubernetesClientException e) {
            // An API server before Kubernetes 1.34 has no templates.
            if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
                throw e;
            }
        }
    }

    private List<String> left() {
        List<String> left = new ArrayList<>();
        client.resources(IwarpNicPolicy.class)
                .list()
                .getItems()
                .forEach(policy ->
                        left.add("IwarpNicPolicy " + policy.getMetadata().getName()));
        String webhook = config.webhook().configuration();
        if (WebhookTrust.configuration(client, webhook).get() != null) {
            left.add("MutatingWebhookConfiguration " + webhook);
        }
        client.apps()
                .daemonSets()
                .inNamespace(config.namespace())
                .withLabel(OperatorConfig.MANAGED_LABEL, OperatorConfig.MANAGER)
                .list()
                .getItems()
                .forEach(daemonSet ->
                        left.add("DaemonSet " + daemonSet.getMetadata().getName()));
        return left;
    }
}
