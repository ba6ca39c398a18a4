// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.Failure;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class RpingMessageTest {

    private static final String OFFER = "000055df31ce6000" + "a9c90800" + "00001000";

    @Test
    void anOfferHasTheLayoutOfRping() {
        RpingMessage offer = new RpingMessage(new RemoteAddress(0xA9C90800, 0x55DF_31CE_6000L), 4096);
        assertThat(HexFormat.of().formatHex(offer.encode().array())).isEqualTo(OFFER);
        assertThat(RpingMessage.decode(ByteBuffer.wrap(HexFormat.of().parseHex(OFFER))))
                .isEqualTo(offer);
    }

    @Test
    void aMessageOfAnotherLengthIsNoneOfRping() {
        assertThatThrownBy(() -> RpingMessage.decode(ByteBuffer.allocate(RpingMessage.LENGTH + 1)))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("17 bytes");
    }
}
