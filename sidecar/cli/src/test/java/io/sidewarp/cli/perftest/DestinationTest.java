// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class DestinationTest {

    /** A destination as perftest on Linux soft-iWARP sent it, with a packet number and a GID. */
    private static final String OF_PERFTEST = "00000000" + "00000080" + "00000003" + "00496b6b" + "9abc0700"
            + "00000000" + "000055b2c0b64000" + "525400123456000000000000" + "00000000" + "0000000000000000";

    private static final String OF_OURS = "00000000" + "00000010" + "00000001" + "00000000" + "a1a2a3a4" + "00000000"
            + "0000000000001000" + "0".repeat(48);

    @Test
    void thePlaceThatPerftestOffersIsUnderstood() {
        assertThat(Destination.decode(ByteBuffer.wrap(HexFormat.of().parseHex(OF_PERFTEST))))
                .isEqualTo(new Destination(0x80, 3, new RemoteAddress(0x9ABC0700, 0x55B2_C0B6_4000L)));
    }

    @Test
    void thePlaceThatIsOfferedHasTheLayoutOfPerftest() {
        Destination destination = new Destination(16, 1, new RemoteAddress(0xA1A2A3A4, 0x1000));
        assertThat(destination.encode().remaining()).isEqualTo(Destination.LENGTH);
        assertThat(HexFormat.of().formatHex(destination.encode().array())).isEqualTo(OF_OURS);
    }
}
