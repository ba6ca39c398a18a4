// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.wire.Octets;
import io.sidewarp.client.RemoteAddress;
import org.junit.jupiter.api.Test;

class PingMessageTest {

    private static final String ADVERTISE = "0110000000000028"
            + "00000003" + "00000040" + "0123456789abcdef"
            + "a1a2a3a4" + "0000000000001000"
            + "b1b2b3b4" + "ffffffffffffff00";

    private static final String DONE = "011100000000000c" + "00000003" + "ffffffffffffffff";

    @Test
    void advertiseHasTheDocumentedLayout() {
        PingMessage.Advertise advertise = new PingMessage.Advertise(
                3, 64, 0x0123456789ABCDEFL, new RemoteAddress(0xA1A2A3A4, 0x1000), new RemoteAddress(0xB1B2B3B4, -256));
        assertThat(Octets.of(advertise)).isEqualTo(ADVERTISE);
        assertThat(Octets.read(ADVERTISE, PingMessage::decode)).isEqualTo(advertise);
    }

    @Test
    void doneHasTheDocumentedLayout() {
        PingMessage.Done done = new PingMessage.Done(3, -1);
        assertThat(Octets.of(done)).isEqualTo(DONE);
        assertThat(Octets.read(DONE, PingMessage::decode)).isEqualTo(done);
    }
}
