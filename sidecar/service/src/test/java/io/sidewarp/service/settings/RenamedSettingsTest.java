// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.settings.RenamedSettings;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RenamedSettingsTest {

    @Test
    void anOldNameHasASuccessor() {
        assertThat(RenamedSettings.successor("sidewarp.worker-threads")).hasValue("sidewarp.advanced.worker-threads");
        assertThat(RenamedSettings.successor("sidewarp.api.tcp.host")).hasValue("sidewarp.advanced.api.tcp.host");
        assertThat(RenamedSettings.successor("sidewarp.limits.regions")).isEmpty();
        assertThat(RenamedSettings.successor("sidewarp.limits.region")).isEmpty();
    }

    @Test
    void aVariableWithAnOldNameIsFound() {
        assertThat(RenamedSettings.in(
                        Set.of("PATH", "SIDEWARP_SCTP_RTO_MIN", "SIDEWARP_SCTP_STACK", "SIDEWARP_VOLUME")))
                .hasValue("SIDEWARP_SCTP_RTO_MIN is now SIDEWARP_ADVANCED_SCTP_RTO_MIN");
        assertThat(RenamedSettings.in(Set.of("SIDEWARP_ADVANCED_SCTP_RTO_MIN"))).isEmpty();
    }
}
