// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the sizes of messages and packets on paths. */
final class PathMtuTest {

    private static final int DDP_SSN_LENGTH = 2;

    @Test
    @Requirement("UDP-5.6-01")
    void theHeadersOfIpAndUdpAreTakenOffThePathMtu() {
        assertThat(PathMtu.packetSize(true, 1500)).isEqualTo(1472);
        assertThat(PathMtu.packetSize(false, 1500)).isEqualTo(1452);
        assertThat(PathMtu.messageSize(1472)).isEqualTo(1428);
        assertThat(PathMtu.messageSize(1472) - DDP_SSN_LENGTH).isLessThanOrEqualTo(1442);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement("SCTP-9-01")
    void theNarrowestPathThatCanBeSetCarriesTheSmallestSegmentUnfragmented(boolean ipv4) {
        int headers = ipv4 ? 28 : 48;

        int packet = PathMtu.packetSize(ipv4, SctpSettings.MIN_PATH_MTU);

        assertThat(packet).isLessThanOrEqualTo(SctpSettings.MIN_PATH_MTU - headers);
        assertThat(PathMtu.messageSize(packet) - DDP_SSN_LENGTH).isGreaterThanOrEqualTo(516);
    }

    @ParameterizedTest
    @ValueSource(ints = {576, 296, 68})
    @Requirement("SCTP-9-01")
    void anInterfaceThatIsNarrowerGetsTheSmallestSegmentInFragmentsOfIp(int mtu) {
        assertThat(PathMtu.messageSize(PathMtu.packetSize(true, mtu)) - DDP_SSN_LENGTH)
                .isGreaterThanOrEqualTo(516);
    }
}
