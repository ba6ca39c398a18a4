// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.common.UnknownVariables;
import io.sidewarp.settings.SidewarpConfig;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnknownVariablesTest {

    private static Optional<String> unknown(String... names) {
        return UnknownVariables.in(Set.of(names), "SIDEWARP_", SidewarpConfig.class);
    }

    @Test
    void aMistypedSettingIsNamedWithTheOneThatItMayMean() {
        assertThat(unknown("PATH", "SIDEWARP_LIMITS_REGION", "SIDEWARP_API_TCP_PROT", "SIDEWARP_COLOUR"))
                .contains("SIDEWARP_API_TCP_PROT (is it SIDEWARP_API_TCP_PORT?), SIDEWARP_COLOUR,"
                        + " SIDEWARP_LIMITS_REGION (is it SIDEWARP_LIMITS_REGIONS?)");
    }

    @Test
    void settingsAreKnownAndWhatElseHasTheirPrefixToo() {
        assertThat(unknown(
                        "SIDEWARP_EVENT_LOOPS",
                        "SIDEWARP_API_TCP_PORT",
                        "SIDEWARP_ADVANCED_CONNECTION_MAX_FPDU",
                        "SIDEWARP_SCTP_ADDRESSES_0_",
                        "SIDEWARP_API",
                        "SIDEWARP_VOLUME",
                        "SIDEWARP_BUILD",
                        "SIDEWARP_RNIC_DEVICES"))
                .isEmpty();
    }

    @Test
    void whatKubernetesTellsOfServicesIsKnown() {
        assertThat(unknown(
                        "SIDEWARP_DEMO_SERVICE_HOST",
                        "SIDEWARP_DEMO_SERVICE_PORT",
                        "SIDEWARP_DEMO_SERVICE_PORT_HTTP",
                        "SIDEWARP_DEMO_PORT",
                        "SIDEWARP_DEMO_PORT_80_TCP",
                        "SIDEWARP_DEMO_PORT_80_TCP_ADDR",
                        "SIDEWARP_SERVICE_HOST",
                        "SIDEWARP_SERVICE_PORT",
                        "SIDEWARP_PORT_9899_UDP_PROTO"))
                .isEmpty();
        assertThat(unknown("SIDEWARP_OTHER_PORT_80_TCP")).contains("SIDEWARP_OTHER_PORT_80_TCP");
    }
}
