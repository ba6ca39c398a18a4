// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.javaoperatorsdk.operator.processing.retry.RetryExecution;
import io.sidewarp.operator.controller.installation.InstallationReconciler;
import io.sidewarp.operator.controller.node.NodeReconciler;
import io.sidewarp.operator.controller.policy.PolicyReconciler;
import io.sidewarp.operator.controller.profile.ProfileReconciler;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetriesTest {
    private static final int MANY = 1000;

    @ParameterizedTest
    @ValueSource(
            classes = {
                InstallationReconciler.class,
                NodeReconciler.class,
                PolicyReconciler.class,
                ProfileReconciler.class
            })
    void aReconciliationThatFailsIsNeverGivenUpAndTriedEachMinuteAtLeast(Class<?> reconciler) {
        GenericRetry retry = new GenericRetry();
        assertThat(reconciler.getAnnotation(GradualRetry.class)).isNotNull().satisfies(retry::initFrom);
        RetryExecution execution = retry.initExecution();

        for (int i = 0; i < MANY; i++) {
            assertThat(execution.nextDelay())
                    .hasValueSatisfying(delay -> assertThat(delay)
                            .isBetween(GradualRetry.DEFAULT_INITIAL_INTERVAL, Retries.MAX_INTERVAL_MILLIS));
        }
    }
}
