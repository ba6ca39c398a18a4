// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.quarkus.runtime.Quarkus;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import org.jboss.logging.Logger;

/** Configures the leader election of the Java Operator SDK, and ends a replica that loses the lead. */
@Dependent
final class LeaderElection {
    private static final Logger LOG = Logger.getLogger(LeaderElection.class);

    /** Renew deadline and retry period of a leader, in tenths of the lease's duration, as in client-go. */
    private static final int RENEW_DEADLINE_TENTHS = 7;

    private static final int RETRY_TENTHS = 2;

    @Produces
    LeaderElectionConfiguration configuration(OperatorConfig config) {
        OperatorConfig.LeaderElection settings = config.leaderElection();
        return LeaderElectionConfigurationBuilder.aLeaderElectionConfiguration(settings.lease())
                .withLeaseNamespace(config.namespace())
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
}
