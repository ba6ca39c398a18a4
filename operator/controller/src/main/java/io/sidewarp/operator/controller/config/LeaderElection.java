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

/** Tells the Java Operator SDK how replicas choose the one that reconciles, and what becomes of one that does no more. */
@Dependent
final class LeaderElection {
    private static final Logger LOG = Logger.getLogger(LeaderElection.class);

    /** A leader gives up, and tries again, at these parts of the lease's duration, as in client-go. */
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
     * Ends the process, to be started again, as in client-go: the SDK would go on reconciling beside the new leader, and never
     * be a candidate again. The SDK's own exit is none, since this is called by the end of the process too.
     */
    private static void end() {
        LOG.info("event=leads-no-longer");
        Quarkus.asyncExit(1);
    }
}
