// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;

/** Tells the Java Operator SDK how replicas choose the one that reconciles. */
@Dependent
final class LeaderElection {
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
                .build();
    }
}
