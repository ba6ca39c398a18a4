// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.wire.Octets;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class PerfMessageTest {

    @Test
    void setupHasTheDocumentedLayout() {
        PerfPlan plan = new PerfPlan(Operation.READ, false, 4, 64, 16, 1 << 20, 0x0123456789ABCDEFL);
        PerfMessage.Setup setup = new PerfMessage.Setup(plan, new RemoteAddress(0xA1A2A3A4, 0x1000));
        String octets = "0120000000000028" + "02" + "00" + "0004" + "00000040" + "00000010" + "0000000000100000"
                + "0123456789abcdef" + "a1a2a3a4" + "0000000000001000";
        assertThat(Octets.of(setup)).isEqualTo(octets);
        assertThat(Octets.read(octets, PerfMessage::decode)).isEqualTo(setup);
    }

    @Test
    void readyHasTheDocumentedLayout() {
        PerfMessage.Ready ready = new PerfMessage.Ready(0x0102030405060708L, new RemoteAddress(9, 10), 128);
        String octets = "0121000000000018" + "0102030405060708" + "00000009" + "000000000000000a" + "00000080";
        assertThat(Octets.of(ready)).isEqualTo(octets);
        assertThat(Octets.read(octets, PerfMessage::decode)).isEqualTo(ready);
    }

    @Test
    void beginAndEndHaveNoBody() {
        assertThat(Octets.of(new PerfMessage.Begin())).isEqualTo("0122000000000000");
        assertThat(Octets.of(new PerfMessage.End())).isEqualTo("0123000000000000");
    }

    @Test
    void doneHasTheDocumentedLayout() {
        PerfMessage.Done done = new PerfMessage.Done(258);
        assertThat(Octets.of(done)).isEqualTo("0124000000000008" + "0000000000000102");
        assertThat(Octets.read(Octets.of(done), PerfMessage::decode)).isEqualTo(done);
    }

    @Test
    void reportHasTheDocumentedLayout() {
        PerfMessage.Report report = new PerfMessage.Report(1, -1, 3, 4);
        String octets =
                "0125000000000020" + "0000000000000001" + "ffffffffffffffff" + "0000000000000003" + "0000000000000004";
        assertThat(Octets.of(report)).isEqualTo(octets);
        assertThat(Octets.read(octets, PerfMessage::decode)).isEqualTo(report);
    }

    @Test
    void helloOfADataConnectionHasTheDocumentedLayout() {
        byte[] octets = new PerfMessage.DataHello(0x0102030405060708L, 513).encode();
        assertThat(HexFormat.of().formatHex(octets)).isEqualTo("0102030405060708" + "0201");
        assertThat(PerfMessage.DataHello.decode(ByteBuffer.wrap(octets)))
                .isEqualTo(new PerfMessage.DataHello(0x0102030405060708L, 513));
    }
}
