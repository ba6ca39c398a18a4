// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Capture;
import io.sidewarp.e2e.support.Dissection;
import io.sidewarp.e2e.support.Inbox;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.wire.FpduDecoder;
import io.sidewarp.e2e.wire.MpaFrame;
import io.sidewarp.e2e.wire.RecordedConnection;
import io.sidewarp.e2e.wire.Ulpdu;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Records sessions of two packaged sidecars. Two decoders check the bytes: tshark, and a decoder that shares no code
 * with the engine.
 */
@ExtendWith(Logs.class)
@Requirement({"DDP-4.1-01", "MPA-4.1-01", "MPA-3-01"})
class WireCaptureIT {

    /** Lengths from nothing to several segments, with all paddings. */
    private static final int[] SIZES = {0, 1, 2, 3, 4, 17, 100, 511, 512, 513, 1448, 4096, 65_535, 1_000_003};

    /** tshark takes FPDUs with Markers apart only when each is in a TCP segment of its own. */
    private static final int LARGEST_IN_ONE_SEGMENT = 30_000;

    private static final int REGION = 1 << 20;
    private static final int ETHERNET_IP = 44_818;

    private static SidecarProcess left;
    private static SidecarProcess right;

    private SidewarpClient leftClient;
    private SidewarpClient rightClient;
    private Session here;
    private Session there;
    private SharedRegion local;
    private SharedRegion sink;
    private SharedRegion remote;
    private SharedRegion inbox;
    private SharedRegion words;

    @BeforeAll
    static void startSidecars() {
        left = SidecarProcess.with("left").allowCrcOff().start();
        right = SidecarProcess.with("right").allowCrcOff().start();
    }

    @AfterAll
    static void stopSidecars() {
        left.close();
        right.close();
    }

    @BeforeEach
    void openSessions() {
        leftClient = left.client();
        rightClient = right.client();
        here = leftClient.openSession("here");
        there = rightClient.openSession("there");
        local = here.createSharedRegion("local", REGION);
        sink = here.createSharedRegion("sink", REGION, Access.LOCAL_WRITE);
        remote = there.createSharedRegion("remote", REGION, Access.REMOTE_READ, Access.REMOTE_WRITE);
        inbox = there.createSharedRegion("inbox", REGION, Access.LOCAL_WRITE);
        words = there.createSharedRegion("words", 4096, Access.REMOTE_ATOMIC);
        Pattern.fill(local.segment(), 1);
    }

    @AfterEach
    void closeSessions() {
        leftClient.close();
        rightClient.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement({"MPA-4.4-07", "MPA-4.4-08", "DDP-4.2-01", "DDP-4.3-01", "RDMAP-4.4-01"})
    void tsharkFindsNothingWrongInAPipelinedSession(boolean crc) throws Exception {
        Recorded recorded = record("pipelined-crc-" + crc, crc, false, false, this::pipeline);
        Dissection dissected = recorded.capture().dissect().assertNothingMalformed();
        assertThat(dissected.fpdus()).isEqualTo(recorded.segments());
        assertThat(dissected.goodCrcs()).isEqualTo(crc ? recorded.segments() : 0);
        // There are as many Read Requests as reads. The other messages may take several segments.
        assertThat(dissected.count("OpCode: Read Request")).isEqualTo(SIZES.length);
        assertThat(dissected.count("OpCode: Write")).isGreaterThan(SIZES.length);
        assertThat(dissected.count("OpCode: Read Response")).isGreaterThan(SIZES.length);
        assertThat(dissected.count("OpCode: Send")).isGreaterThan(SIZES.length);
        recorded.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement({"MPA-4.3-01", "MPA-4.3-02", "MPA-4.3-03", "MPA-4.3-04", "MPA-4.3-05", "MPA-4.4-09"})
    void tsharkFindsTheMarkersWhereTheyBelong(boolean crc) throws Exception {
        Recorded recorded = record("markers-crc-" + crc, crc, true, true, this::oneAfterTheOther);
        Dissection dissected = recorded.capture().dissect().assertNothingMalformed();
        assertThat(dissected.fpdus()).isEqualTo(recorded.segments());
        assertThat(dissected.goodCrcs()).isEqualTo(crc ? recorded.segments() : 0);
        assertThat(dissected.count("FPDU back pointer:"))
                .isEqualTo(markers(recorded.initiatorOctets()) + markers(recorded.responderOctets()));
        recorded.close();
    }

    @ParameterizedTest
    @CsvSource({
        "true, false, false", "true, false, true", "true, true, false", "true, true, true",
        "false, false, false", "false, false, true", "false, true, false", "false, true, true"
    })
    @Requirement({
        "MPA-4.3-02",
        "MPA-4.3-03",
        "MPA-4.3-05",
        "MPA-4.2-01",
        "MPA-4.1-02",
        "MPA-7.1.1-04",
        "MPA-7.1.2-10",
        "MPA-C.3-01",
        "DDP-4.1-03",
        "DDP-5.2-01",
        "DDP-6.1-01",
        "RDMAP-5.2-01"
    })
    void eachCombinationOfCrcAndMarkersIsFramedByTheRules(boolean crc, boolean toInitiator, boolean toResponder)
            throws Exception {
        String name = "framing-" + crc + "-" + toInitiator + "-" + toResponder;
        Recorded recorded = record(name, crc, toInitiator, toResponder, this::pipeline);
        int initiatorMessages = assertFramed(recorded.initiatorOctets(), MpaFrame.REQUEST_KEY, crc, toResponder);
        int responderMessages = assertFramed(recorded.responderOctets(), MpaFrame.REPLY_KEY, crc, toInitiator);
        // Three messages of each size from the side that asks, and the responses to its reads.
        assertThat(initiatorMessages).isEqualTo(3 * SIZES.length);
        assertThat(responderMessages).isEqualTo(SIZES.length);
        recorded.close();
    }

    /** tshark 4.0 has no name for Immediate Data, but knows the atomic operations. */
    @Test
    @Requirement({"EXT-4.1-01", "EXT-4.1-02", "EXT-5.2.2-01", "EXT-6.3-01"})
    void tsharkDecodesAtomicOperationsAndFindsNothingWrongWithImmediateData() {
        Recorded recorded = record("extensions", true, false, false, this::extensions);
        Dissection dissected = recorded.capture().dissect().assertNothingMalformed();
        assertThat(dissected.goodCrcs()).isEqualTo(recorded.segments());
        assertThat(dissected.count("OpCode: Atomic Request")).isEqualTo(2);
        assertThat(dissected.count("OpCode: Atomic Response")).isEqualTo(2);
        assertThat(dissected.count("(0x8)")).isEqualTo(1);
        assertThat(dissected.count("(0x9)")).isEqualTo(1);
        recorded.close();
    }

    /** Checks the basis of the other tests of captures: both decoders detect a changed byte. */
    @Test
    void anOctetThatWasChangedIsFoundByBothDecoders() throws IOException {
        Recorded recorded = record("changed", true, false, false, this::oneAfterTheOther);
        byte[] packets = Files.readAllBytes(recorded.capture().file());
        byte[] payload = Arrays.copyOf(local.segment().toArray(ValueLayout.JAVA_BYTE), 64);
        packets[indexOf(packets, payload)] ^= 1;
        Path changed = Files.write(Programs.output().resolve("changed-octet.pcapng"), packets);

        RecordedConnection connection = Capture.connections(changed).getFirst();
        assertThatThrownBy(connection::ulpdus).hasMessageContaining("CRC is");
        Dissection dissected = Capture.dissect(changed);
        assertThatThrownBy(dissected::assertNothingMalformed).isInstanceOf(AssertionError.class);
        assertThat(dissected.goodCrcs()).isEqualTo(recorded.segments() - 1);
        recorded.close();
    }

    /** A connecting side gets any port, also one by which tshark knows EtherNet/IP. */
    @Test
    void anotherProtocolsPortHidesNothingFromTshark() throws IOException {
        Recorded recorded = record("ports", true, false, false, this::oneAfterTheOther);
        Capture capture = recorded.capture();
        byte[] packets = Files.readAllBytes(capture.file());
        String responses = "tcp.flags.syn == 1 && tcp.flags.ack == 1";
        int listening =
                Integer.parseInt(capture.fields(responses, "tcp.srcport").getFirst());
        int connecting =
                Integer.parseInt(capture.fields(responses, "tcp.dstport").getFirst());
        replace(packets, ports(connecting, listening), ports(ETHERNET_IP, listening));
        replace(packets, ports(listening, connecting), ports(listening, ETHERNET_IP));
        Path changed = Files.write(Programs.output().resolve("changed-ports.pcapng"), packets);

        Dissection dissected = Capture.dissect(changed).assertNothingMalformed();
        assertThat(dissected.goodCrcs()).isEqualTo(recorded.segments());
        recorded.close();
    }

    private static byte[] ports(int source, int destination) {
        return ByteBuffer.allocate(4)
                .putShort((short) source)
                .putShort((short) destination)
                .array();
    }

    private static void replace(byte[] octets, byte[] wanted, byte[] by) {
        for (int i = 0; i + wanted.length <= octets.length; i++) {
            if (Arrays.equals(octets, i, i + wanted.length, wanted, 0, wanted.length)) {
                System.arraycopy(by, 0, octets, i, by.length);
            }
        }
    }

    private static int indexOf(byte[] octets, byte[] wanted) {
        int index = 0;
        while (!Arrays.equals(octets, index, index + wanted.length, wanted, 0, wanted.length)) {
            index++;
        }
        return index;
    }

    /** Takes one direction apart, and counts its messages by their last segments. */
    private static int assertFramed(byte[] octets, String key, boolean crc, boolean markers) throws IOException {
        InputStream in = new ByteArrayInputStream(octets);
        MpaFrame frame = MpaFrame.read(in);
        assertThat(frame.key()).isEqualTo(key);
        assertThat(frame.has(MpaFrame.CRC)).isEqualTo(crc);
        FpduDecoder decoder = new FpduDecoder(in, crc, markers);
        int messages = 0;
        Optional<byte[]> ulpdu = decoder.next();
        while (ulpdu.isPresent()) {
            assertThat(ulpdu.get()[0] & 0x3F).as("reserved bits and DV").isEqualTo(1);
            assertThat(ulpdu.get()[1] & 0xF0).as("RV and reserved bits").isEqualTo(0x40);
            assertThat(Ulpdu.isTagged(ulpdu.get())).isEqualTo(Ulpdu.opcode(ulpdu.get()) % 2 == 0);
            if (Ulpdu.isLast(ulpdu.get())) {
                messages++;
            }
            ulpdu = decoder.next();
        }
        return messages;
    }

    /** A capture, with the number of segments that the initiator's counters report. */
    private record Recorded(Capture capture, long segments) implements AutoCloseable {

        byte[] initiatorOctets() {
            return capture.connections().getFirst().initiator();
        }

        byte[] responderOctets() {
            return capture.connections().getFirst().responder();
        }

        @Override
        public void close() {
            capture.close();
        }
    }

    /** The way in which a session carries out its work over a connection. */
    private interface Work {
        void carryOut(Link link, Inbox messages);
    }

    private Recorded record(String name, boolean crc, boolean toInitiator, boolean toResponder, Work work) {
        ConnectionOptions accepting = ConnectionOptions.builder()
                .crc(crc)
                .receiveMarkers(toResponder)
                .receiveQueue(SIZES.length)
                .build();
        Sge[] receives = Collections.nCopies(SIZES.length, inbox.slice()).toArray(Sge[]::new);
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        try (Inbox messages = Inbox.of(there, accepting, receives);
                Listener listener = there.listen(
                        Link.LOOPBACK, 0, request -> accepted.complete(request.accept(messages.connection())))) {
            Capture capture = Capture.start(name, listener.port());
            Connection initiator = here.connect(
                    Link.LOOPBACK,
                    listener.port(),
                    ConnectionOptions.builder()
                            .crc(crc)
                            .receiveMarkers(toInitiator)
                            .build());
            Link link = new Link(initiator, Patience.get(accepted));
            assertThat(initiator.established().agreed().crc()).isEqualTo(crc);
            work.carryOut(link, messages);
            ConnectionInfo.Counters sent = initiator.info().counters();
            ConnectionInfo.Counters received = link.responder().info().counters();
            assertThat(received.segmentsReceived()).isEqualTo(sent.segmentsSent());
            initiator.disconnect();
            capture.stopBehindTheConnection();
            return new Recorded(capture, sent.segmentsSent() + sent.segmentsReceived());
        }
    }

    private void pipeline(Link link, Inbox messages) {
        Connection connection = link.initiator();
        try (WorkQueue queue = here.openQueue(3 * SIZES.length)) {
            for (int size : SIZES) {
                queue.post(1, WorkRequest.write(connection, remote.address(), local.slice(0, size)));
                queue.post(2, WorkRequest.read(connection, remote.address(), sink.slice(0, size)));
                queue.post(3, WorkRequest.send(connection, local.slice(0, size)));
            }
            for (int i = 0; i < 3 * SIZES.length; i++) {
                assertThat(queue.poll(Patience.LIMIT)).hasValueSatisfying(WorkCompletion::orThrow);
            }
        }
        for (int size : SIZES) {
            assertThat(messages.receive().length()).isEqualTo(size);
        }
    }

    private void oneAfterTheOther(Link link, Inbox messages) {
        for (int wanted : SIZES) {
            int size = Math.min(wanted, LARGEST_IN_ONE_SEGMENT);
            link.initiator().write(local.slice(0, size), remote.address());
            link.initiator().read(sink.slice(0, size), remote.address());
            link.initiator().send(local.slice(0, size));
            assertThat(messages.receive().length()).isEqualTo(size);
        }
    }

    private void extensions(Link link, Inbox messages) {
        Connection connection = link.initiator();
        assertThat(connection.fetchAdd(words.address(8), 5)).isZero();
        assertThat(connection.compareSwap(words.address(8), 5, 7)).isEqualTo(5);
        connection.perform(WorkRequest.immediate(connection, 1));
        connection.perform(WorkRequest.write(connection, remote.address(), local.slice(0, 8))
                .withImmediate(2)
                .solicited());
        assertThat(messages.receive().immediate()).hasValue(1);
        assertThat(messages.receive().immediate()).hasValue(2);
        assertThat(words.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 8)).isEqualTo(7);
        assertThat(remote.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0))
                .isEqualTo(local.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
    }

    /** Markers of a direction: one before the first octet behind the start-up frame, and one each 512 octets. */
    private static long markers(byte[] octets) throws IOException {
        InputStream in = new ByteArrayInputStream(octets);
        MpaFrame.read(in);
        return (in.available() + 511L) / 512;
    }
}
