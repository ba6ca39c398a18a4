// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionEvent;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.LowerLayerProtocol;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Inbox;
import io.sidewarp.e2e.support.KernelPeer;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Patience;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests errors of a peer on the SCTP of the Linux kernel. Both sides must report each error. */
class SctpKernelErrorsIT extends SctpKernelPeer {

    private static final int OCTETS = 100;

    @AfterEach
    void nobodyElseAskedForAConnection() {
        assertNoRequest();
    }

    @ParameterizedTest
    @CsvSource({"0, no adaptation layer", "2, adaptation layer 0x2"})
    @Requirement({"SCTP-7.1-02", "SCTP-11.1-01"})
    void aKernelThatDoesNotIndicateDdpIsNotConnectedTo(String adaptation, String words) {
        KernelPeer peer = KernelPeer.listen(guest, List.of("adaptation=" + adaptation), "await-abort");
        String reason = "no DDP adaptation (RFC 5043 section 11.1): the peer indicates " + words;
        assertThatThrownBy(() -> connect(peer, overSctp()))
                .isInstanceOf(SidewarpException.class)
                .hasMessageContaining(reason);
        assertThat(peer.text()).contains("abort reason: " + reason);
    }

    @ParameterizedTest
    @CsvSource({"0, no adaptation layer", "7, adaptation layer 0x7"})
    @Requirement({"SCTP-7.1-02", "SCTP-11.1-01"})
    void aKernelThatDoesNotIndicateDdpIsRefused(String adaptation, String words) {
        KernelPeer peer = connecting(List.of("adaptation=" + adaptation), "await-abort");
        sidecar.process()
                .awaitLine(line -> line.contains("event=startup-failed")
                        && line.contains("no DDP adaptation (RFC 5043 section 11.1): the peer indicates " + words));
        // The ABORT may come before or behind the COOKIE-ACK.
        assertThat(peer.anyText()).containsPattern("Connection refused|aborted by the peer");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "chunk=99:00, payload protocol 99",
        "chunk=16:, a chunk of 2 bytes",
        "initiate, INITIATE in an open session",
        "accept, ACCEPT in an open session",
        "reject, REJECT in an open session",
        "chunk=17:0009, function code 9",
        "chunk=17:000400, 5 bytes with function code 4",
        "chunk-at=40000:16:00, DDP-SSN 40000 when 1 is due"
    })
    @Requirement({"SCTP-6.1-02", "SCTP-10-04", "SCTP-11.3-03"})
    void aChunkThatFitsNoSequenceEndsItsSessionAndNoOther(String fault, String words) {
        KernelPeer peer = connecting(
                "initiate await=accept stream=1 initiate await=accept stream=0",
                fault,
                "await=terminate terminate stream=1 send=100 await=terminate terminate shutdown await-shutdown");
        Connection broken = nextRequest().accept();
        try (Inbox inbox = receiving();
                Connection other = nextRequest().accept(inbox.connection())) {
            assertThat(other).isNotNull();
            ConnectionEvent end = Patience.get(broken.closed());
            assertThat(end.error()).isPresent();
            assertThat(end.message()).contains("the peer broke RFC 5043 on stream 0: ", words);
            assertThat(inbox.receive().length()).isEqualTo(OCTETS);
        }
        peer.text();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"chunk=99:00", "chunk=16:00", "accept", "reject", "chunk=17:0009"})
    @Requirement({"SCTP-6.1-02", "SCTP-6.3-02"})
    void whatBeginsNoSessionIsTerminatedAndTheStreamCanBeUsed(String fault) {
        KernelPeer peer = connecting(
                fault,
                "await=terminate again",
                "initiate await=accept await=terminate terminate shutdown await-shutdown");
        nextRequest().accept().close();
        peer.text();
    }

    @Test
    @Requirement("SCTP-5.2.3-02")
    void privateDataOf513OctetsIsNoInitiate() {
        connecting("initiate=" + "00".repeat(513), "await=terminate terminate shutdown await-shutdown")
                .text();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "chunk=16:00, a DDP Segment before the answer to the Initiate",
        "enhanced-accept=00000000, ENHANCED_ACCEPT as the answer to an Initiate",
        "chunk=17:0009, function code 9"
    })
    @Requirement("SCTP-6.1-02")
    void whatIsNoAnswerFailsTheConnection(String fault, String words) {
        KernelPeer peer = listening("await=initiate", fault, "await=terminate terminate await-shutdown");
        assertThatThrownBy(() -> connect(peer, overSctp()))
                .isInstanceOf(SidewarpException.class)
                .hasMessageContaining(words);
        peer.text();
    }

    @Test
    @Requirement({"SCTP-5.2.3-05", "SCTP-6.3-02", "SCTP-6.4-01"})
    void anInitiateThatNobodyCanBeAskedAboutIsTerminated() {
        BlockingQueue<IncomingConnection> requests = new LinkedBlockingQueue<>();
        ListenOptions one =
                ListenOptions.defaults().withLlp(LowerLayerProtocol.SCTP).withBacklog(1);
        try (Listener listener = session.listen(Link.LOOPBACK, 0, one, requests::add)) {
            KernelPeer peer = connecting(
                    listener, List.of(), "initiate stream=1 initiate await=terminate shutdown await-shutdown");
            peer.text();
            assertThat(requests).hasSize(1);
        }
    }

    @Test
    @Requirement({"SCTP-6.2-02", "SCTP-11.3-03"})
    void anErrorOfRdmapIsToldBeforeTheSessionEnds() {
        KernelPeer peer = connecting(
                "initiate await=accept write=5a5a5a5a:100",
                "await-rdmap-terminate await=terminate terminate shutdown await-shutdown");
        ConnectionEvent end = Patience.get(nextRequest().accept().closed());
        assertThat(end.error().orElseThrow().remote()).isFalse();
        assertThat(end.error().orElseThrow().layer()).isEqualTo(1);
        assertThat(end.error().orElseThrow().type()).isEqualTo(1);
        assertThat(end.error().orElseThrow().code()).isZero();
        assertThat(peer.text()).contains("RDMAP Terminate, layer 1, type 1, code 0x00");
    }

    @Test
    @Requirement("RDMAP-5.4-01")
    void aTerminateOfRdmapReachesTheApplication() {
        KernelPeer peer = connecting(
                "initiate await=accept rdmap-terminate=11010000 terminate await=terminate shutdown await-shutdown");
        ConnectionEvent end = Patience.get(nextRequest().accept().closed());
        assertThat(end.error().orElseThrow().remote()).isTrue();
        assertThat(end.error().orElseThrow().layer()).isEqualTo(1);
        assertThat(end.error().orElseThrow().type()).isEqualTo(1);
        assertThat(end.error().orElseThrow().code()).isEqualTo(1);
        peer.text();
    }

    @Test
    @Requirement("SCTP-11.3-02")
    void anAbortOfTheKernelIsToldToEachConnection() {
        KernelPeer peer = connecting("initiate await=accept stream=1 initiate await=accept abort");
        List<Connection> connections =
                List.of(nextRequest().accept(), nextRequest().accept());
        for (Connection connection : connections) {
            ConnectionEvent end = Patience.get(connection.closed());
            assertThat(end.error()).isPresent();
            assertThat(end.message()).contains("the peer aborted the association");
        }
        peer.text();
    }

    @Test
    void anAbortOfOursIsToldByATerminateOfRdmapAndEndsOneSession() {
        KernelPeer peer = connecting(
                "initiate await=accept stream=1 initiate await=accept",
                "stream=0 await-rdmap-terminate await=terminate terminate",
                "stream=1 send=100 await=terminate terminate shutdown await-shutdown");
        Connection aborted = nextRequest().accept();
        try (Inbox inbox = receiving();
                Connection other = nextRequest().accept(inbox.connection())) {
            assertThat(other).isNotNull();
            aborted.abort();
            assertThat(inbox.receive().length()).isEqualTo(OCTETS);
        }
        assertThat(peer.text()).contains("RDMAP Terminate, layer 2, type 0, code 0x01");
    }

    private static Inbox receiving() {
        return Inbox.of(session, region.slice(0, OCTETS));
    }
}
