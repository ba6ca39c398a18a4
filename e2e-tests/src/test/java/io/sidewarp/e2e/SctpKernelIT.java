// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ConnectionRejectedException;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Capture;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.Inbox;
import io.sidewarp.e2e.support.KernelPeer;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SctpVerdict;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests against a peer that uses the SCTP stack of the Linux kernel. The peer checks the rules of RFC 5043, and shares
 * no code with the engine. tshark checks the packets on the wire.
 */
class SctpKernelIT extends SctpKernelPeer {

    private static final int OCTETS = 60_000;
    private static final int MAX_PRIVATE_DATA = 512;
    private static final int ENHANCED_DATA = 4;

    /**
     * Maximum size in bytes of an unfragmented chunk in a packet of 1500 bytes. The packet leaves room for a SACK (RFC
     * 5043 section 9).
     */
    private static final int LARGEST_CHUNK = 1428;

    @Test
    @Requirement({
        "SCTP-5.1-01",
        "SCTP-5.2-01",
        "SCTP-5.2.1-01",
        "SCTP-5.2.2-01",
        "SCTP-6-02",
        "SCTP-6.2-01",
        "SCTP-6.2-02",
        "SCTP-8-01",
        "SCTP-9-03",
        "SCTP-10-01",
        "UDP-5.3-01",
        "UDP-5.3-02",
        "UDP-5.7-01"
    })
    void theKernelServesOurPings() {
        try (Capture capture = Capture.startSctp("sctp-kernel-serves", guest.sctpUdpPort())) {
            KernelPeer peer = listening(
                    "await=initiate",
                    "accept",
                    "serve",
                    "serve",
                    "serve",
                    "await=terminate",
                    "terminate",
                    "await-shutdown");
            assertPinged(ping(peer, "--count", "3"), 3);
            assertThat(peer.text())
                    .contains("association: 16 streams out, 16 in", "adaptation indication: 0x00000001")
                    .contains("60000 octets read from the peer and written, " + checksum(1))
                    .contains("60000 octets read from the peer and written, " + checksum(2))
                    .contains("60000 octets read from the peer and written, " + checksum(3))
                    .containsPattern(
                            "chunks without a gap, 2 of control, 0 ordered, .* of " + LARGEST_CHUNK + " octets");
            capture.stopBehindTheAssociation();
            SctpVerdict.assertSound(capture);
        }
    }

    @Test
    @Requirement({
        "SCTP-5.1-01",
        "SCTP-5.2-01",
        "SCTP-5.2.1-01",
        "SCTP-5.2.2-01",
        "SCTP-6-02",
        "SCTP-6.2-01",
        "SCTP-6.2-02",
        "SCTP-8-01",
        "SCTP-9-03",
        "SCTP-10-01",
        "UDP-5.3-01",
        "UDP-5.3-02",
        "UDP-5.7-01"
    })
    void theKernelPingsUs() {
        try (Capture capture = Capture.startSctp("sctp-kernel-pings", guest.sctpUdpPort());
                OwnedProcess server = CliProcess.start(
                        sidecar, "ping", "--rping", "--once", "--llp", "sctp", "--listen", Link.LOOPBACK + ":0")) {
            KernelPeer peer = KernelPeer.connect(
                    guest,
                    sctpPort(CliProcess.awaitAddress(server)),
                    udpPort(),
                    List.of(),
                    "initiate",
                    "await=accept",
                    "ping=60000",
                    "ping=60000",
                    "ping=1",
                    "terminate",
                    "await=terminate",
                    "shutdown",
                    "await-shutdown");
            assertThat(peer.text())
                    .contains("association: 16 streams out, 16 in", "adaptation indication: 0x00000001")
                    .contains("60000 octets read and written by the peer, " + checksum(1))
                    .contains("60000 octets read and written by the peer, " + checksum(2))
                    .contains("3 RDMA Writes of 120001 octets, 3 RDMA Reads served")
                    .containsPattern(
                            "chunks without a gap, 2 of control, 0 ordered, .* of " + LARGEST_CHUNK + " octets");
            assertThat(server.awaitExit()).as(server.text()).isZero();
            assertThat(server.text()).contains("3 rounds");
            capture.stopBehindTheAssociation();
            SctpVerdict.assertSound(capture);
        }
    }

    @Test
    void theKernelServesTwoConnectionsInOneAssociationOfUnequalStreams() {
        KernelPeer peer = KernelPeer.listen(
                guest,
                List.of("streams=2:5"),
                "await=initiate accept stream=1 await=initiate accept",
                "stream=0 serve stream=1 serve",
                "stream=0 await=terminate terminate stream=1 await=terminate terminate await-shutdown");
        assertPinged(ping(peer, "--count", "1", "--connections", "2"), 2);
        assertThat(peer.text()).contains("association: 2 streams out, 5 in");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, MAX_PRIVATE_DATA})
    @Requirement({"SCTP-5.2.3-01", "SCTP-5.2.3-02", "SCTP-5.2.3-03"})
    void privateDataReachesTheKernelAndComesBack(int octets) {
        byte[] there = Pattern.bytes(1, octets);
        byte[] back = Pattern.bytes(2, octets);
        KernelPeer peer =
                listening("await=initiate", "accept=" + hex(back), "await=terminate", "terminate", "await-shutdown");
        try (Connection connection = connect(peer, overSctp().privateData(there))) {
            assertThat(connection.privateData()).isEqualTo(back);
        }
        assertThat(peer.text()).contains("Initiate, " + seen(there)).contains("Terminate, 0 octets");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, MAX_PRIVATE_DATA})
    @Requirement({"SCTP-5.2.3-01", "SCTP-5.2.3-02", "SCTP-5.2.3-03"})
    void privateDataOfTheKernelReachesUs(int octets) {
        byte[] there = Pattern.bytes(1, octets);
        byte[] back = Pattern.bytes(2, octets);
        KernelPeer peer = connecting(
                "initiate=" + hex(there), "await=accept", "await=terminate", "terminate", "shutdown", "await-shutdown");
        IncomingConnection request = nextRequest();
        assertThat(request.privateData()).isEqualTo(there);
        request.accept(ConnectionOptions.builder().privateData(back).build()).close();
        assertThat(peer.text()).contains("Accept, " + seen(back)).contains("Terminate, 0 octets");
    }

    @Test
    @Requirement({"SCTP-5.2.3-04", "SCTP-6.3-01"})
    void aRejectOfTheKernelReachesTheApplicationWithItsPrivateData() {
        byte[] reason = Pattern.bytes(3, 100);
        KernelPeer peer = listening("await=initiate", "reject=" + hex(reason), "await-shutdown");
        assertThatThrownBy(() -> connect(peer, overSctp()))
                .isInstanceOfSatisfying(
                        ConnectionRejectedException.class,
                        rejected -> assertThat(rejected.privateData()).isEqualTo(reason));
        peer.text();
    }

    @Test
    @Requirement({"SCTP-6.1-01", "SCTP-6.3-01"})
    void aRejectOfOursReachesTheKernelAndItsNextSessionOnTheStreamIsAccepted() {
        byte[] reason = Pattern.bytes(3, 100);
        KernelPeer peer = connecting(
                "initiate",
                "await=reject",
                "again",
                "initiate",
                "await=accept",
                "await=terminate",
                "terminate",
                "again",
                "initiate",
                "await=accept",
                "await=terminate",
                "terminate",
                "shutdown",
                "await-shutdown");
        nextRequest().reject(reason);
        nextRequest().accept().close();
        nextRequest().accept().close();
        assertThat(peer.text()).contains("Reject, " + seen(reason));
    }

    @Test
    void theKernelAnswersAnEnhancedInitiate() {
        KernelPeer peer = listening(
                "await=enhanced-initiate",
                "enhanced-accept=00040003",
                "await=terminate",
                "terminate",
                "await-shutdown");
        try (Connection connection =
                connect(peer, overSctp().mpaRequestRevision(2).ird(6).ord(5))) {
            assertThat(connection.established().agreed().ord()).isEqualTo(4);
            assertThat(connection.established().agreed().peerIrd()).hasValue(4);
            assertThat(connection.established().agreed().peerOrd()).hasValue(3);
        }
        assertThat(peer.text()).contains("Enhanced Initiate, 4 octets of private data: 00060005");
    }

    @Test
    void aKernelThatDoesNotKnowEnhancedSessionsIsAskedAgainWithout() {
        KernelPeer peer = listening(
                "await=enhanced-initiate",
                "terminate",
                "stream=1",
                "await=initiate",
                "accept",
                "await=terminate",
                "terminate",
                "await-shutdown");
        connect(peer, overSctp().mpaRequestRevision(2).mpaRevisions(1, 2)).close();
        peer.text();
    }

    @Test
    void ourAcceptOfAnEnhancedInitiateNegotiatesDepths() {
        KernelPeer peer = connecting(
                "enhanced-initiate=0003000241",
                "await=enhanced-accept",
                "await=terminate",
                "terminate",
                "shutdown",
                "await-shutdown");
        IncomingConnection request = nextRequest();
        assertThat(request.privateData()).isEqualTo(new byte[] {0x41});
        request.accept(ConnectionOptions.builder().ird(7).ord(3).build()).close();
        assertThat(peer.text()).contains("Enhanced Accept, " + ENHANCED_DATA + " octets of private data: 00070003");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "as RFC 5043 requires, '', ''",
        "the last chunk first, '', hold",
        "ordered, '', ordered",
        "in chunks of 516 bytes, '', segment=516",
        "in fragments, fragments, segment=4000"
    })
    @Requirement({"SCTP-6.1-02", "SCTP-9-03", "SCTP-10-02"})
    void dataOfTheKernelArrivesHoweverItComes(String ignored, String option, String command) {
        byte[] letters = KernelPeer.letters(20_000, 0);
        region.store(0, new byte[2 * letters.length]);
        KernelPeer peer = connecting(
                words(option),
                "initiate",
                "await=accept",
                command,
                "write=%08x:20000".formatted(region.stag()),
                "send=20000",
                "release",
                "await=terminate",
                "terminate",
                "shutdown",
                "await-shutdown");
        try (Inbox inbox = Inbox.of(session, region.slice(letters.length, letters.length));
                Connection connection = nextRequest().accept(inbox.connection())) {
            assertThat(connection).isNotNull();
            assertThat(inbox.receive().length()).isEqualTo(letters.length);
            assertThat(region.load(0, letters.length)).isEqualTo(letters);
            assertThat(region.load(letters.length, letters.length)).isEqualTo(letters);
        }
        peer.text();
    }

    @Test
    @Requirement({"SCTP-6-01", "SCTP-11.3-03"})
    void aSendOfManyChunksReachesTheKernel() {
        byte[] letters = KernelPeer.letters(OCTETS, 1);
        region.store(0, letters);
        KernelPeer peer = connecting(
                "initiate",
                "await=accept",
                "stream=9",
                "initiate",
                "await=accept",
                "receive",
                "await=terminate",
                "terminate",
                "stream=0",
                "receive",
                "await=terminate",
                "terminate",
                "shutdown",
                "await-shutdown");
        try (Connection onStream0 = nextRequest().accept()) {
            try (Connection onStream9 = nextRequest().accept()) {
                onStream9.send(region.slice(0, OCTETS));
            }
            onStream0.send(region.slice(0, 100));
        }
        assertThat(peer.text())
                .contains("stream 9: Send of 60000 octets, " + KernelPeer.checksum(letters))
                .contains("stream 0: Send of 100 octets");
    }

    private static CliProcess.Ended ping(KernelPeer peer, String... more) {
        List<String> arguments = List.of(
                "ping",
                "--rping",
                "--llp",
                "sctp",
                "--udp-port",
                Integer.toString(guest.sctpUdpPort()),
                "--size",
                Integer.toString(OCTETS),
                "--interval",
                "0s",
                Link.LOOPBACK + ":" + peer.port());
        return CliProcess.run(
                sidecar, Stream.concat(arguments.stream(), Stream.of(more)).toArray(String[]::new));
    }

    private static void assertPinged(CliProcess.Ended ping, int rounds) {
        assertThat(ping.exitCode()).as(ping.text()).isZero();
        assertThat(ping.text()).contains(rounds + " of " + rounds + " rounds good");
    }

    private static String checksum(int round) {
        return KernelPeer.checksum(KernelPeer.letters(OCTETS, round));
    }

    /** Returns the SCTP port of an address of the form "127.0.0.1:PORT in UDP port UDP-PORT". */
    private static int sctpPort(String address) {
        return Integer.parseInt(address.substring(address.indexOf(':') + 1, address.indexOf(' ')));
    }

    private static List<String> words(String text) {
        return text.isEmpty() ? List.of() : List.of(text);
    }

    private static String hex(byte[] octets) {
        return HexFormat.of().formatHex(octets);
    }

    /** Formats private data as the peer prints it, with at most the first 64 bytes in hexadecimal. */
    private static String seen(byte[] privateData) {
        String hex = hex(privateData);
        return privateData.length + " octets of private data"
                + (hex.isEmpty() ? "" : ": " + hex.substring(0, Math.min(hex.length(), 128)));
    }
}
