// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.VersionInfo;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;
import org.jboss.logging.Logger;

/** The API server that the controller works with. */
@ApplicationScoped
class AwaitedApiServer {
    private static final Logger LOG = Logger.getLogger(AwaitedApiServer.class);

    private final KubernetesClient client;
    private final OperatorConfig config;

    AwaitedApiServer(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /** Waits until the API server answers, and returns its version. Logs each distinct reason of a failure once. */
    VersionInfo await() throws InterruptedException {
        Optional<String> told = Optional.empty();
        while (true) {
            try {
                return version();
            } catch (KubernetesClientException e) {
                Optional<String> reason = Optional.of(reasonOf(e));
                if (!reason.equals(told)) {
                    told = reason;
                    LOG.errorf(
                            "event=api-server-away url=%s reason=\"%s\" retry-seconds=%d action=\"in a pod, look at its ServiceAccount and"
                                    + " at NetworkPolicies; elsewhere, have KUBECONFIG name a file with a cluster that answers\"",
                            client.getMasterUrl(),
                            reason.get(),
                            config.apiServerRetry().toSeconds());
                }
                Thread.sleep(config.apiServerRetry());
            }
        }
    }

    private VersionInfo version() {
        // The client would otherwise retry silently for a minute.
        RequestConfig once = new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
                .withRequestRetryBackoffLimit(0)
                .build();
        // The new client must not be closed: it shares the connections.
        return client.newClient(once).adapt(KubernetesClient.class).getKubernetesVersion();
    }

    private static String reasonOf(KubernetesClientException e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
