// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.provider.software.SoftwareProvider;
import io.sidewarp.provider.software.sctp.SoftwareSctp;
import org.junit.jupiter.api.Test;

class ConnectionPlanTest {

    @Test
    void aCallForSctpIsToldWhatToInstallWhereItIsMissing() {
        SctpUnavailableException missing = new SctpUnavailableException("install it", new IllegalStateException());
        try (SoftwareProvider provider = SoftwareProvider.builder()
                        .sctp(SoftwareSctp.of(() -> {
                            throw missing;
                        }))
                        .build();
                Device device = provider.open()) {
            assertThatThrownBy(() -> ConnectionPlan.llp(io.sidewarp.v1.Llp.LLP_SCTP, 2, device))
                    .hasMessageContaining("UNIMPLEMENTED")
                    .hasMessageContaining("install it");
            assertThat(ConnectionPlan.llp(io.sidewarp.v1.Llp.LLP_TCP, 1, device))
                    .isEqualTo(Llp.TCP);
        }
    }
}
