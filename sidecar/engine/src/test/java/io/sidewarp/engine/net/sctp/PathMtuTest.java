// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import org.junit.jupiter.api.Test;

/** Sizes on paths. */
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

    @Test
    void theNarrowestPathCarriesTheSmallestSegmentOfRfc5043() {
        int message = PathMtu.messageSize(PathMtu.packetSize(true, SctpSettings.MIN_PATH_MTU));
        assertThat(message - DDP_SSN_LENGTH).isGreaterThanOrEqualTo(516);
    }
}
