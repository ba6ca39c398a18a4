// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.SctpPacketOutput;
import io.sidewarp.engine.net.sctp.SctpSettings;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests sockets of the library usrsctp (package libusrsctp2). */
final class UsrsctpSocketTest {

    private static final int PORT = 7;
    private static final int PACKET_SIZE = 1500;
    private static final SctpPacketOutput NOWHERE = new SctpPacketOutput() {
        @Override
        @Nullable
        public WireBuffer acquirePacket(int length) {
            return null;
        }

        @Override
        public void onPacket(WireBuffer packet, int length) {
            throw new AssertionError("no packet was acquired");
        }
    };

    private final SocketTable table = new SocketTable();

    @BeforeEach
    void initialize() {
        Usrsctp.load()
                .open(PORT, PACKET_SIZE, OptionalInt.empty(), SctpSettings.defaults(), NOWHERE)
                .close();
    }

    private UsrsctpSocket open() {
        return UsrsctpSocket.open(table, PORT, PACKET_SIZE, OptionalInt.empty(), SctpSettings.defaults(), NOWHERE);
    }

    @Test
    void anAddressWhoseFormerSocketTheLibraryStillHasGivesWayToAnother() {
        UsrsctpSocket former = open();
        table.release(1);

        UsrsctpSocket next = open();

        assertThat(table.get(1)).isNull();
        assertThat(table.get(2)).isSameAs(next);
        next.close();
        assertThat(table.acquire()).isEqualTo(2);
        former.close();
    }
}
