// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Capture;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.SiwGuest;
import io.sidewarp.e2e.wire.MpaFrame;
import io.sidewarp.e2e.wire.Octets;
import io.sidewarp.e2e.wire.RawPeer;
import io.sidewarp.e2e.wire.Ulpdu;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Measures on the wire where Linux soft-iWARP differs from the RFCs. docs/interoperability.md describes the
 * consequences. A failure means that siw has changed.
 */
@ExtendWith(Logs.class)
class SiwDifferencesIT {

    /** Size in bytes of the message that rping receives. */
    private static final int RPING_MESSAGE = 16;

    /** Index of a port that no other test uses, because an rping with a misbehaving peer cannot always be ended. */
    private static final int PORT_INDEX = SiwGuest.RPING_PORTS - 1;

    private static SiwGuest guest;

    @BeforeAll
    static void start() {
        guest = SiwGuest.get();
        int port = SiwGuest.RPING_PORT + PORT_INDEX;
        guest.run("rping -s -P -p " + port + " >/dev/null 2>&1 &").orThrow();
        guest.awaitListening(port);
    }

    @Test
    void siwAsksForNoCrcUnlessItIsConfiguredTo() throws IOException {
        guest.configure(2, false, false);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<SiwGuest.Result> rping = guest.start(rping(server.getLocalPort()));
            try (RawPeer peer = RawPeer.accept(server)) {
                assertThat(peer.readFrame().has(MpaFrame.CRC)).isFalse();
            }
            Patience.get(rping);
        }
    }

    @Test
    void siwOfRevision2DoesNotGoOnWithAResponderOfRevision1() throws IOException {
        guest.configure(2, false, false);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<SiwGuest.Result> rping = guest.start(rping(server.getLocalPort()));
            try (RawPeer peer = RawPeer.accept(server)) {
                assertThat(peer.readFrame().revision()).isEqualTo(2);
                peer.sendOctets(MpaFrame.reply(0, new byte[0]).encode());
                assertThat(peer.receiveUntilGone()).isEmpty();
            }
            assertThat(Patience.get(rping).text()).contains("cma event");
        }
    }

    @Test
    void siwRejectsARequestForMarkers() throws IOException {
        try (RawPeer peer = RawPeer.connect(guest.rpingPort(PORT_INDEX))) {
            peer.sendOctets(MpaFrame.request(MpaFrame.MARKERS | MpaFrame.CRC, new byte[0])
                    .encode());
            assertThat(peer.readFrame().has(MpaFrame.REJECT)).isTrue();
        }
    }

    @Test
    void siwAcceptsRevision0WithoutItsMarkers() throws IOException {
        try (RawPeer peer = RawPeer.connect(guest.rpingPort(PORT_INDEX))) {
            peer.sendOctets(new MpaFrame(MpaFrame.REQUEST_KEY, MpaFrame.CRC, 0, new byte[0]).encode());
            MpaFrame reply = peer.readFrame();
            assertThat(reply.revision()).isZero();
            assertThat(reply.has(MpaFrame.REJECT)).isFalse();
            assertThat(reply.has(MpaFrame.MARKERS)).isFalse();
        }
    }

    @Test
    void siwTakesNoMoreThan256OctetsOfPrivateData() throws IOException {
        try (RawPeer peer = RawPeer.connect(guest.rpingPort(PORT_INDEX))) {
            peer.sendOctets(MpaFrame.request(MpaFrame.CRC, new byte[257]).encode());
            assertThat(peer.receiveUntilGone()).isEmpty();
        }
    }

    @Test
    void siwSwapsLayerAndTypeInATerminate() throws IOException {
        try (RawPeer peer = connectRevision1()) {
            byte[] toQueue7 = Ulpdu.untagged(Ulpdu.UNTAGGED_LAST, Ulpdu.SEND, 0, 7, 1, 0, new byte[RPING_MESSAGE]);
            peer.send(toQueue7);
            byte[] terminate = Ulpdu.payload(peer.receiveTerminate());
            // Layer 1 (DDP), type 2 (untagged buffer), code 1 (invalid queue) would be 0x12, 0x01.
            assertThat(terminate[0]).isEqualTo((byte) 0x21);
            assertThat(terminate[1]).isEqualTo((byte) 0x01);
        }
    }

    @Test
    void siwReportsAMessageThatIsTooLongAsOneWithoutBuffer() throws IOException {
        try (RawPeer peer = connectRevision1()) {
            peer.send(Ulpdu.send(1, new byte[RPING_MESSAGE + 4]));
            byte[] terminate = Ulpdu.payload(peer.receiveTerminate());
            // RFC 5041 section 7.2 has 0x05 for it.
            assertThat(terminate[1]).isEqualTo((byte) 0x02);
        }
    }

    @Test
    void siwReadsNothingOverRevision1() throws IOException {
        try (RawPeer peer = connectRevision1()) {
            byte[] offer = Octets.begin().u64(0x1000).u32(0x100).u32(64).toArray();
            peer.send(Ulpdu.send(1, offer));
            assertThat(peer.receive()).as("no Read Request").isEmpty();
        }
    }

    @Test
    void aRespondingSiwSendsBeforeTheInitiatorsFirstFpdu() {
        guest.configure(2, true, false);
        String perftest = "ib_write_lat -R -F -s 64 -n 100";
        try (SidecarProcess sidecar = SidecarProcess.start("siw-order");
                Capture capture = Capture.start("siw-order", guest.perftestPort())) {
            CompletableFuture<SiwGuest.Result> server = guest.start(perftest);
            guest.awaitListening(SiwGuest.PERFTEST_PORT);
            String there = Link.LOOPBACK + ":" + guest.perftestPort();
            try (OwnedProcess client =
                    CliProcess.start(sidecar, "perftest", "write_lat", there, "--size", "64", "--iterations", "100")) {
                assertThat(client.awaitExit()).as(client.text()).isZero();
            }
            Patience.get(server).orThrow();
            capture.stopBehind(2);
            // The first connection is that of the control messages.
            List<String> senders = capture.fields("tcp.stream == 1 && iwarp_ddp", "tcp.srcport");
            assertThat(senders.getFirst()).isEqualTo(Integer.toString(guest.perftestPort()));
        }
    }

    /** Some failures of the set-up do not end rping. */
    private static String rping(int port) {
        return "timeout 5 rping -c -a " + SiwGuest.HOST + " -p " + port + " -C 1";
    }

    /** A connection to rping of revision 1 with CRCs, on which both sides may send. */
    private static RawPeer connectRevision1() throws IOException {
        RawPeer peer = RawPeer.connect(guest.rpingPort(PORT_INDEX));
        peer.sendOctets(MpaFrame.request(MpaFrame.CRC, new byte[0]).encode());
        MpaFrame reply = peer.readFrame();
        assertThat(reply.has(MpaFrame.CRC)).isTrue();
        assertThat(reply.has(MpaFrame.REJECT)).isFalse();
        // siw ignores received data until its queue pair is ready, and nothing reports that moment.
        guest.run("sleep 1").orThrow();
        return peer;
    }
}
