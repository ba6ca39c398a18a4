// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.MessageSocket;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests notifications as a little-endian kernel writes them. */
final class NotificationsTest {

    private final List<String> events = new ArrayList<>();

    private final MessageSocket.Receiver receiver = new MessageSocket.Receiver() {
        @Override
        public void onUp(int inboundStreams, int outboundStreams) {
            events.add("up " + inboundStreams + " " + outboundStreams);
        }

        @Override
        public void onAdaptation(int indication) {
            events.add("adaptation " + indication);
        }

        @Override
        public void onLost(@Nullable String cause) {
            events.add("lost: " + cause);
        }

        @Override
        public void onRestarted() {
            events.add("restarted");
        }

        @Override
        public void onShutDown() {
            events.add("shut down");
        }

        @Override
        public void onPath(InetAddress path, boolean active) {
            events.add(path.getHostAddress() + (active ? " active" : " inactive"));
        }
    };

    /** Reads a notification. Returns the identifier of the association that is up. */
    private int read(String hex) {
        byte[] octets = HexFormat.of().parseHex(hex);
        WireBuffer buffer = WireBuffer.copyOf(octets);
        events.clear();
        Notifications.read(buffer, octets.length, receiver);
        return Notifications.newAssociation(buffer.segment(), octets.length);
    }

    /** struct sctp_assoc_change with 5 outbound and 3 inbound streams, of association 77. */
    private static String associationChange(int state, int error, String info) {
        return "0180" + "0000" + "%02x000000".formatted(20 + info.length() / 2) + "%02x00".formatted(state)
                + "%04x".formatted(error) + "0500" + "0300" + "4d000000" + info;
    }

    @Test
    void anAssociationThatIsUpTellsItsIdentifierAndStreams() {
        assertThat(read(associationChange(0, 0, ""))).isEqualTo(77);

        assertThat(events).containsExactly("up 3 5");
    }

    @Test
    void theReasonOfAnAbortIsRead() {
        // Error cause 12, 4 + 3 octets.
        assertThat(read(associationChange(1, 0, "000c0007" + "626164"))).isEqualTo(Notifications.NO_ASSOCIATION);

        assertThat(events).containsExactly("lost: the peer aborted the association: bad");
    }

    @Test
    void controlCharactersInTheReasonOfAnAbortReachNoTerminal() {
        // ESC, CSI as one character (U+009B), and DEL.
        read(associationChange(1, 0, "000c0009" + "1b" + "c29b" + "7f" + "62"));

        assertThat(events).containsExactly("lost: the peer aborted the association: ???b");
    }

    @Test
    void aPeerThatIsSilentGivesNoReason() {
        read(associationChange(1, 0, ""));

        assertThat(events).containsExactly("lost: null");
    }

    @Test
    void aRefusalTellsTheCauseCodeIfThereIsOne() {
        read(associationChange(4, 0, ""));
        assertThat(events).containsExactly("lost: the peer refused the association");

        // Error in network order: cause 4, out of resource.
        read(associationChange(4, 4, ""));
        assertThat(events).containsExactly("lost: the peer refused the association with cause code 4");
    }

    @Test
    void theEndsAreToldApart() {
        read(associationChange(2, 0, ""));
        assertThat(events).containsExactly("restarted");
        read(associationChange(3, 0, ""));
        assertThat(events).containsExactly("shut down");
    }

    @Test
    void thePeersAdaptationIndicationIsRead() {
        read("0780" + "0000" + "10000000" + "01000000" + "4d000000");

        assertThat(events).containsExactly("adaptation 1");
    }

    /** struct sctp_paddr_change of 192.0.2.7. */
    private static String pathChange(int state) {
        return "0280" + "0000" + "94000000" + "0200" + "13b3" + "c0000207" + "00".repeat(120)
                + "%02x000000".formatted(state) + "00000000" + "4d000000";
    }

    @Test
    void aPathThatAnswersNoMoreOrAgainIsTold() {
        read(pathChange(1));
        assertThat(events).containsExactly("192.0.2.7 inactive");

        read(pathChange(0));
        assertThat(events).containsExactly("192.0.2.7 active");
    }

    @Test
    void whatIsCutShortOrUnknownMeansNothing() {
        read("0180" + "0000" + "14000000");
        assertThat(events).isEmpty();
        read("0980" + "0000" + "0c000000" + "4d000000");
        assertThat(events).isEmpty();
        read(pathChange(4));
        assertThat(events).isEmpty();
    }
}
