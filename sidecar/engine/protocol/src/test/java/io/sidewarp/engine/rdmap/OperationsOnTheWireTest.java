// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.testing.WireEnd;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.QueuePairCounters;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests the bytes that each operation sends. */
class OperationsOnTheWireTest {

    private static final String ZERO = "00000000";

    @AutoClose
    private final LoneStream peer = new LoneStream();

    private final MemoryRegion hello = peer.memory().regionWith(hex("48656C6C6F"));

    private static byte[] octets(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    @Test
    @Requirement({"RDMAP-3.2-01", "RDMAP-3.2-02", "RDMAP-4.1-04", "RDMAP-4.1-05", "RDMAP-4.2-01", "DDP-4.2-01"})
    void aWriteIsATaggedSegmentWithOpcode0() {
        peer.endpoint()
                .write(1)
                .with(hello)
                .remote(0xA1B2C3D4, 0x1122334455667788L)
                .post();

        assertThat(peer.onlyOutput().octets()).isEqualTo(hex("C1 40 A1B2C3D4 1122334455667788 48656C6C6F"));
    }

    @Test
    @Requirement({
        "RDMAP-3.2-01",
        "RDMAP-4.1-01",
        "RDMAP-4.1-04",
        "RDMAP-4.1-05",
        "RDMAP-4.1-06",
        "RDMAP-4.1-08",
        "RDMAP-4.2-01",
        "DDP-4.3-01"
    })
    void aSendIsAnUntaggedSegmentOfQueue0WithOpcode3() {
        peer.endpoint().send(1).with(hello).post();

        assertThat(peer.onlyOutput().octets()).isEqualTo(hex("41 43", ZERO, ZERO, "00000001", ZERO, "48656C6C6F"));
    }

    @Test
    @Requirement({"RDMAP-3.2-01", "RDMAP-4.1-04", "RDMAP-4.1-06", "RDMAP-4.1-08"})
    void aSendWithSolicitedEventHasOpcode5() {
        peer.endpoint().send(1).with(hello).solicited().post();

        assertThat(peer.onlyOutput().octets()).isEqualTo(hex("41 45", ZERO, ZERO, "00000001", ZERO, "48656C6C6F"));
    }

    @Test
    @Requirement({"RDMAP-3.2-01", "RDMAP-3.2-02", "RDMAP-4.1-04", "RDMAP-4.1-06", "RDMAP-4.1-07", "RDMAP-5.3-05"})
    void aSendWithInvalidateHasOpcode4AndNamesTheStag() {
        peer.endpoint().send(1).with(hello).invalidating(0x11223344).post();

        assertThat(peer.onlyOutput().octets())
                .isEqualTo(hex("41 44", "11223344", ZERO, "00000001", ZERO, "48656C6C6F"));
    }

    @Test
    @Requirement({"RDMAP-3.2-01", "RDMAP-4.1-04", "RDMAP-4.1-06", "RDMAP-4.1-07", "RDMAP-5.3-05"})
    void aSendWithSolicitedEventAndInvalidateHasOpcode6AndNamesTheStagInEverySegment() {
        peer.wire().mulpdu(20);
        peer.endpoint().send(1).with(hello).solicited().invalidating(0x11223344).post();

        assertThat(peer.output())
                .extracting(Segment::octets)
                .containsExactly(
                        hex("01 46", "11223344", ZERO, "00000001", "00000000", "4865"),
                        hex("01 46", "11223344", ZERO, "00000001", "00000002", "6C6C"),
                        hex("41 46", "11223344", ZERO, "00000001", "00000004", "6F"));
    }

    @Test
    @Requirement({
        "RDMAP-3.2-01",
        "RDMAP-3.2-02",
        "RDMAP-4.1-04",
        "RDMAP-4.1-05",
        "RDMAP-4.1-06",
        "RDMAP-4.1-08",
        "RDMAP-4.2-01",
        "RDMAP-4.4-01"
    })
    void aReadRequestIsAnUntaggedSegmentOfQueue1With46Octets() {
        MemoryRegion sink = peer.memory().region(0x7766554433000000L, 64, AccessRight.LOCAL_WRITE);
        peer.endpoint()
                .read(1)
                .with(sink, 0x11, 32)
                .remote(0xA1B2C3D4, 0x0102030405060708L)
                .post();

        assertThat(peer.onlyOutput().octets())
                .hasSize(46)
                .isEqualTo(join(
                        hex("41 41", ZERO, "00000001", "00000001", ZERO),
                        octets(sink.stag()),
                        hex("7766554433000011", "00000020", "A1B2C3D4", "0102030405060708")));
    }

    @Test
    @Requirement({"RDMAP-4.1-04", "RDMAP-4.1-05", "RDMAP-4.2-01", "RDMAP-4.4-02"})
    void aReadResponseIsATaggedSegmentWithOpcode2AndTheSinkOfTheRequest() {
        peer.input(readRequest(1, 0xFFFF_FFFF, 0x123456789L, 5, hello.stag(), 0));

        assertThat(peer.onlyOutput().octets()).isEqualTo(hex("C1 42 FFFFFFFF 0000000123456789 48656C6C6F"));
    }

    @Test
    @Requirement({"RDMAP-4.1-04", "RDMAP-4.1-05", "RDMAP-4.1-06", "RDMAP-4.1-08", "RDMAP-4.8-01", "DDP-4.3-03"})
    void aTerminateIsAnUntaggedSegmentOfQueue2() {
        peer.input(write(0xA1B2C3D4, 7, hex("01")));

        assertThat(peer.onlyOutput().octets())
                .isEqualTo(join(
                        hex("41 47", ZERO, "00000002", "00000001", ZERO),
                        hex("11 00 C0 00", "000F", "C1 40 A1B2C3D4 0000000000000007")));
    }

    @Test
    @Requirement({"RDMAP-5.1-04", "RDMAP-5.3-04", "DDP-5.2-06"})
    void zeroLengthMessagesAreOneSegmentWithoutPayload() {
        peer.endpoint().send(1).post();
        peer.endpoint().write(2).remote(0, 0).post();

        assertThat(peer.output())
                .extracting(Segment::octets)
                .containsExactly(hex("41 43", ZERO, ZERO, "00000001", ZERO), hex("C1 40", ZERO, ZERO, ZERO));
    }

    @Test
    @Requirement("RDMAP-5.2.1-06")
    void aZeroLengthReadNeedsNoSink() {
        peer.endpoint().read(1).remote(5, 6).post();

        assertThat(peer.onlyOutput().payload())
                .isEqualTo(hex("00000000 0000000000000000 00000000 00000005 0000000000000006"));

        peer.input(readResponse(0, 0, new byte[0]));

        assertThat(peer.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
    }

    @Test
    @Requirement({"RDMAP-5.2.1-01", "DDP-4.3-03", "DDP-4.3-04"})
    void queuesCountTheirMessagesSeparately() {
        MemoryRegion sink = peer.region(8);
        for (int i = 0; i < 3; i++) {
            peer.endpoint().send(i).post();
            peer.endpoint().read(10 + i).with(sink).remote(1, 0).post();
        }

        List<Segment> segments = peer.output();

        assertThat(segments).extracting(Segment::qn).containsExactly(0, 1, 0, 1, 0, 1);
        assertThat(segments).extracting(Segment::msn).containsExactly(1, 1, 2, 2, 3, 3);
        assertThat(segments).extracting(Segment::mo).containsOnly(0L);
    }

    @Test
    @Requirement({"RDMAP-3.1-01", "RDMAP-5.1-03"})
    void eachMessageIsOneDdpMessage() {
        peer.wire().mulpdu(128);
        MemoryRegion source = peer.memory().regionWith(pattern(342, 1));
        peer.endpoint().send(1).with(source).post();
        peer.endpoint().write(2).with(source).remote(0x55, 1000).post();
        peer.endpoint().send(3).with(source).solicited().post();

        List<Segment> segments = peer.output();

        assertThat(segments).extracting(Segment::opcode).containsExactly(3, 3, 3, 3, 0, 0, 0, 5, 5, 5, 5);
        assertThat(segments)
                .extracting(Segment::last)
                .containsExactly(false, false, false, true, false, false, true, false, false, false, true);
        assertThat(segments.subList(0, 4)).extracting(Segment::msn).containsOnly(1);
        assertThat(segments.subList(4, 7)).extracting(Segment::to).containsExactly(1000L, 1114L, 1228L);
        assertThat(segments.subList(4, 7)).extracting(Segment::stag).containsOnly(0x55);
        assertThat(segments.subList(7, 11)).extracting(Segment::msn).containsOnly(2);
    }

    @Test
    @Requirement({"RDMAP-5.2.1-04", "RDMAP-5.1-03"})
    void eachRemoteStagTakesAMessageOfItsOwn() {
        MemoryRegion sink = peer.region(30);
        for (int i = 0; i < 3; i++) {
            peer.endpoint().read(i).with(sink, i * 10L, 10).remote(0x100 + i, 5).post();
            peer.endpoint().write(10 + i).with(hello).remote(0x200 + i, 5).post();
        }

        List<Segment> segments = peer.output();

        assertThat(segments).extracting(Segment::opcode).containsExactly(1, 0, 1, 0, 1, 0);
        for (int i = 0; i < 3; i++) {
            ByteBuffer request = ByteBuffer.wrap(segments.get(2 * i).payload());
            assertThat(request.getInt(12)).isEqualTo(10);
            assertThat(request.getInt(16)).isEqualTo(0x100 + i);
            assertThat(segments.get(2 * i + 1).stag()).isEqualTo(0x200 + i);
        }
    }

    @Test
    @Requirement("RDMAP-5.1-02")
    void aWriteGathersFromSeveralBlocks() {
        MemoryRegion first = peer.memory().regionWith(hex("0001020304"));
        MemoryRegion second = peer.memory().regionWith(hex("1011121314"));
        peer.wire().mulpdu(18);

        peer.endpoint()
                .write(1)
                .with(first, 1, 3)
                .with(second, 0, 0)
                .with(second, 4, 1)
                .with(first, 0, 1)
                .with(second, 0, 4)
                .remote(9, 0)
                .post();

        assertThat(join(peer.output().stream().map(Segment::payload).toArray(byte[][]::new)))
                .isEqualTo(hex("010203 14 00 10111213"));
    }

    @Test
    @Requirement({"RDMAP-4.1-02", "DDP-4.1-06"})
    void afterNegotiationWithAnRdmacPeerBothVersionsAre0() {
        try (LoneStream rdmac = new LoneStream(EndpointOptions.defaults(), new WireEnd().protocolVersion(0))) {
            MemoryRegion region = rdmac.region(8);
            rdmac.endpoint().send(1).post();
            rdmac.endpoint().write(2).remote(1, 0).post();
            rdmac.endpoint().receive(3).with(region).post();
            rdmac.input(hex("40 03", ZERO, ZERO, "00000001", ZERO, "AB"));

            assertThat(rdmac.output())
                    .extracting(Segment::octets)
                    .containsExactly(
                            hex("40 03", ZERO, ZERO, "00000001", ZERO), hex("C0 00 00000001 0000000000000000"));
            assertThat(TestMemory.get(region, 0, 1)).isEqualTo(hex("AB"));

            rdmac.input(hex("41 43", ZERO, ZERO, "00000002", ZERO));

            assertThat(rdmac.onlyOutput().octets())
                    .startsWith(hex("40 07"))
                    .endsWith(hex("12 06 C0 00 0012", "41 43", ZERO, ZERO, "00000002", ZERO));
        }
    }

    @Test
    @Requirement({"RDMAP-4.1-02", "RDMAP-4.1-03", "DDP-4.1-05", "DDP-4.1-06"})
    void allMessagesHaveVersion1AndReservedBitsZero() {
        MemoryRegion sink = peer.region(8);
        peer.endpoint().send(1).with(hello).post();
        peer.endpoint().write(2).with(hello).remote(1, 2).post();
        peer.endpoint().read(3).with(sink).remote(1, 2).post();
        peer.input(readRequest(1, 1, 2, 5, hello.stag(), 0));

        List<Segment> segments = peer.output();

        assertThat(segments).hasSize(4);
        assertThat(segments).allSatisfy(segment -> {
            assertThat(segment.control() & 0x3F).isEqualTo(0x01);
            assertThat(segment.ulpControl() & 0xF0).isEqualTo(0x40);
        });
    }

    @Test
    void countersCountMessagesAndPayload() {
        MemoryRegion region = peer.region(64);
        peer.endpoint().receive(1).with(region).post();
        peer.endpoint().write(1).with(hello).remote(1, 2).post();
        peer.endpoint().send(2).with(hello).post();
        peer.endpoint().read(3).with(region, 0, 7).remote(1, 2).post();
        peer.input(
                readRequest(1, 1, 2, 3, hello.stag(), 0),
                write(region.stag(), 0, pattern(20, 1)),
                hex("41 43", ZERO, ZERO, "00000001", ZERO, "AABB"));
        peer.output();
        peer.input(readResponse(region.stag(), 0, pattern(7, 2)));

        QueuePairCounters counters = peer.stream().counters();
        assertThat(counters.octetsSent()).isEqualTo(5 + 5 + 3);
        assertThat(counters.octetsReceived()).isEqualTo(20 + 2 + 7);
        assertThat(counters.writesSent()).isEqualTo(1);
        assertThat(counters.writesReceived()).isEqualTo(1);
        assertThat(counters.sendsSent()).isEqualTo(1);
        assertThat(counters.sendsReceived()).isEqualTo(1);
        assertThat(counters.readsSent()).isEqualTo(1);
        assertThat(counters.readsServed()).isEqualTo(1);
        assertThat(counters.segmentsSent()).isEqualTo(4);
        assertThat(counters.segmentsReceived()).isEqualTo(4);
    }

    @Test
    @Requirement("RDMAP-5.1-02")
    void aWriteIsPlacedAnywhereInTheRegionAndNowhereElse() {
        MemoryRegion region = peer.region(100);
        byte[] expected = new byte[100];
        for (int i = 0; i < 100; i += 7) {
            expected[i] = (byte) (i + 1);
            peer.input(write(region.stag(), i, new byte[] {(byte) (i + 1)}));
        }

        assertThat(TestMemory.get(region)).isEqualTo(expected);
    }
}
