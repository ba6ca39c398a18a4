// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.wire.Message;
import io.sidewarp.cli.wire.Octets;
import io.sidewarp.client.RemoteAddress;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class CopyMessageTest {

    @Test
    void putHasTheDocumentedLayout() {
        CopyMessage.Put put = new CopyMessage.Put(0x123456789AL, 1 << 20, 16, 0755, "a.b");
        String octets = "0130000000000015" + "000000123456789a" + "00100000" + "0010" + "01ed" + "0003" + "612e62";
        assertThat(Octets.of(put)).isEqualTo(octets);
        assertThat(Octets.read(octets, CopyMessage::decode)).isEqualTo(put);
    }

    @Test
    void getHasTheDocumentedLayout() {
        CopyMessage.Get get = new CopyMessage.Get(1 << 20, 16, "a.b");
        String octets = "013100000000000b" + "00100000" + "0010" + "0003" + "612e62";
        assertThat(Octets.of(get)).isEqualTo(octets);
        assertThat(Octets.read(octets, CopyMessage::decode)).isEqualTo(get);
    }

    @Test
    void windowHasTheDocumentedLayout() {
        CopyMessage.Window window = new CopyMessage.Window(5, new RemoteAddress(0xA1A2A3A4, 0x1000), 1 << 20, 8);
        String octets = "013200000000001a" + "0000000000000005" + "a1a2a3a4" + "0000000000001000" + "00100000" + "0008";
        assertThat(Octets.of(window)).isEqualTo(octets);
        assertThat(Octets.read(octets, CopyMessage::decode)).isEqualTo(window);
    }

    @Test
    void chunkAndTakenHaveTheDocumentedLayouts() {
        CopyMessage.Chunk chunk = new CopyMessage.Chunk(258, 1000);
        assertThat(Octets.of(chunk)).isEqualTo("013300000000000c" + "0000000000000102" + "000003e8");
        assertThat(Octets.read(Octets.of(chunk), CopyMessage::decode)).isEqualTo(chunk);
        CopyMessage.Taken taken = new CopyMessage.Taken(258);
        assertThat(Octets.of(taken)).isEqualTo("0134000000000008" + "0000000000000102");
        assertThat(Octets.read(Octets.of(taken), CopyMessage::decode)).isEqualTo(taken);
    }

    @Test
    void finishAndStoredHaveTheDocumentedLayouts() {
        byte[] digest = new byte[32];
        Arrays.fill(digest, (byte) 0xEE);
        CopyMessage.Finish finish = new CopyMessage.Finish(7, digest);
        assertThat(Octets.of(finish)).isEqualTo("0135000000000028" + "0000000000000007" + "ee".repeat(32));
        CopyMessage.Finish read = (CopyMessage.Finish) Octets.read(Octets.of(finish), CopyMessage::decode);
        assertThat(read.size()).isEqualTo(7);
        assertThat(read.digest()).isEqualTo(digest);
        assertThat(Octets.of(new CopyMessage.Stored())).isEqualTo("0136000000000000");
    }

    @Test
    void messagesAboutDirectoriesHaveTheDocumentedLayouts() {
        CopyMessage.ListDirectory list = new CopyMessage.ListDirectory(1 << 20, 16, "");
        assertThat(Octets.of(list)).isEqualTo("0137000000000008" + "00100000" + "0010" + "0000");
        CopyMessage.MakeDirectory make = new CopyMessage.MakeDirectory(0755, "a");
        assertThat(Octets.of(make)).isEqualTo("0138000000000005" + "01ed" + "0001" + "61");
        CopyMessage.Made made = new CopyMessage.Made(true);
        assertThat(Octets.of(made)).isEqualTo("0139000000000001" + "01");
        CopyMessage.Restrict restrict = new CopyMessage.Restrict(0555, "a");
        assertThat(Octets.of(restrict)).isEqualTo("013a000000000005" + "016d" + "0001" + "61");
        for (CopyMessage message : List.of(list, make, made, restrict)) {
            assertThat(Octets.read(Octets.of(message), CopyMessage::decode)).isEqualTo(message);
        }
    }

    @Test
    void theLongestNameFitsAMessage() {
        String name = "x/".repeat(FileName.MAX_LENGTH / 2 - 1) + "y";
        assertThat(Octets.of(new CopyMessage.Put(1, 1, 1, 1, name))).hasSizeLessThan(2 * Message.MAX_LENGTH);
    }
}
