// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.common.UnknownVariables;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnknownVariablesTest {

    private static Optional<String> unknown(String... names) {
        return UnknownVariables.in(Set.of(names), "SIDEWARP_OPERATOR_", OperatorConfig.class);
    }

    @Test
    void aMistypedSettingIsNamedWithTheOneThatItMayMean() {
        assertThat(unknown("PATH", "SIDEWARP_OPERATOR_WEBHOOK_IDLE_TIMEOUTS", "SIDEWARP_OPERATR_VERSION", "SIDEWARP_X"))
                .contains("SIDEWARP_OPERATOR_WEBHOOK_IDLE_TIMEOUTS (is it SIDEWARP_OPERATOR_WEBHOOK_IDLE_TIMEOUT?),"
                        + " SIDEWARP_OPERATR_VERSION (is it SIDEWARP_OPERATOR_VERSION?), SIDEWARP_X");
    }

    @Test
    void settingsAndTheChartsOwnServicesAreKnown() {
        assertThat(unknown(
                        "SIDEWARP_OPERATOR_SIDECAR_IMAGE",
                        "SIDEWARP_OPERATOR_UNSELECTED_FALLBACK_0_",
                        "SIDEWARP_OPERATOR_LEADER_ELECTION_DURATION",
                        "SIDEWARP_WEBHOOK_SERVICE_HOST",
                        "SIDEWARP_WEBHOOK_SERVICE_PORT_HTTPS",
                        "SIDEWARP_WEBHOOK_PORT",
                        "SIDEWARP_WEBHOOK_PORT_443_TCP_PROTO"))
                .isEmpty();
    }
}
