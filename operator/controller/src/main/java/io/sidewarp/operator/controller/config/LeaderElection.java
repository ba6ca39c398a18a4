// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.quarkus.runtime.Quarkus;
import io.sidewarp.common.LogText;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * Configures the leader election of the Java Operator SDK, and ends a replica that loses the lead. A leader that ends
 * passes its lease on: the SDK would let the lease expire.
 */
@ApplicationScoped
public class LeaderElection {
    private static final Logger LOG = Logger.getLogger(LeaderElection.class);

    /** Renew deadline and retry period of a leader, in tenths of the lease's duration, as in client-go. */
    private static final int RENEW_DEADLINE_TENTHS = 7;

    private static final int RETRY_TENTHS = 2;
    private static final int RELEASE_TIMEOUT_MILLIS = 5_000;
    private static final String COMPONENT_LABEL = "app.kubernetes.io/component";

    /** Phases of pods that have ended. Evictions and shutdowns of nodes leave such pods behind for a long time. */
    private static final Set<String> ENDED = Set.of("Failed", "Succeeded");

    /** Name of this replica's pod, which is the name of its host. */
    private static final String IDENTITY = Optional.ofNullable(System.getenv("HOSTNAME"))
            .filter(name -> !name.isBlank())
            .orElseGet(() -> UUID.randomUUID().toString());

    private final OperatorConfig config;
    private final KubernetesClient client;

    public LeaderElection(OperatorConfig config, KubernetesClient client) {
        this.config = config;
        this.client = client;
    }

    /** Returns the name of this replica's pod. */
    public static String identity() {
        return IDENTITY;
    }

    @Produces
    LeaderElectionConfiguration configuration() {
        OperatorConfig.LeaderElection settings = config.leaderElection();
        return LeaderElectionConfigurationBuilder.aLeaderElectionConfiguration(settings.lease())
                .withLeaseNamespace(config.namespace())
                .withIdentity(IDENTITY)
                .withLeaseDuration(settings.duration())
                .withRenewDeadline(
                        settings.duration().multipliedBy(RENEW_DEADLINE_TENTHS).dividedBy(10))
                .withRetryPeriod(settings.duration().multipliedBy(RETRY_TENTHS).dividedBy(10))
                .withLeaderCallbacks(new LeaderCallbacks(() -> {}, LeaderElection::end, _ -> {}))
                .build();
    }

    /**
     * Ends the process, so that Kubernetes restarts it, as in client-go. The SDK would otherwise continue to reconcile
     * beside the new leader, and never become a candidate again. The SDK itself does not end the process, because it
     * also calls this method at a normal shutdown.
     */
    private static void end() {
        LOG.info("event=leads-no-longer");
        Quarkus.asyncExit(1);
    }

    /** Returns all pods of the controller that have not ended and are not being deleted. */
    public static List<Pod> replicas(KubernetesClient client, OperatorConfig config) {
        return client
                .pods()
                .inNamespace(config.namespace())
                .withLabel(COMPONENT_LABEL, "controller")
                .list()
                .getItems()
                .stream()
                .filter(pod -> !pod.isMarkedForDeletion() && !hasEnded(pod))
                .toList();
    }

    /** Returns whether all containers of a pod have ended for good. */
    public static boolean hasEnded(Pod pod) {
        return pod.getStatus() != null
                && ENDED.contains(String.valueOf(pod.getStatus().getPhase()));
    }

    /**
     * Passes the lease on if this replica holds the lease. The newest ready replica gets the lease, because an upgrade
     * ends the older replicas next. If that replica does not take over, the lease expires as usual. Without a ready
     * replica, the lease is free. Must not be called before this replica has stopped to reconcile.
     */
    public void release() {
        // The client would otherwise retry silently for a minute.
        RequestConfig once = new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
                .withRequestRetryBackoffLimit(0)
                .withRequestTimeout(RELEASE_TIMEOUT_MILLIS)
                .build();
        try {
            // The new client must not be closed: it shares the connections.
            release(client.newClient(once).adapt(KubernetesClient.class));
        } catch (KubernetesClientException e) {
            LOG.warnf(
                    "event=lease-not-released lease=%s cause=%s action=\"none; another replica leads when the lease has"
                            + " expired\"",
                    config.leaderElection().lease(), LogText.quoted(e.getMessage()));
        }
    }

    private void release(KubernetesClient once) {
        Lease lease = once.leases()
                .inNamespace(config.namespace())
                .withName(config.leaderElection().lease())
                .get();
        if (lease == null || !IDENTITY.equals(lease.getSpec().getHolderIdentity())) {
            return;
        }
        String successor = replicas(once, config).stream()
                .filter(pod -> Readiness.isPodReady(pod)
                        && !pod.getMetadata().getName().equals(IDENTITY))
                .max(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp()))
                .map(pod -> pod.getMetadata().getName())
                .orElse("");
        ZonedDateTime now = ZonedDateTime.now(ZoneOffset.UTC);
        // The version of the lease makes the API server refuse this update if another replica has taken over.
        once.resource(new LeaseBuilder(lease)
                        .editSpec()
                        .withHolderIdentity(successor)
                        .withAcquireTime(now)
                        .withRenewTime(now)
                        .endSpec()
                        .build())
                .update();
        LOG.infof("event=lease-released successor=%s", LogText.quoted(successor));
    }
}
