// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.UNTAGGED_LAST;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readRequestHeader;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests RDMA Read Requests of the peer. */
class ReadResponderTest {

    private static final int SINK = 0x51A65A61;
    private static final int IRD = 4;

    @AutoClose
    private final LoneStream stream = new LoneStream(EndpointOptions.defaults().reads(IRD, 4));

    private final byte[] data = pattern(8192, 1);
    private final MemoryRegion source = stream.memory().regionWith(data);

    private static byte[] payloadOf(List<Segment> segments) {
        return join(segments.stream().map(Segment::payload).toArray(byte[][]::new));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1009, 1010, 1011, 2020, 8192})
    @Requirement({"RDMAP-5.2.1-05", "RDMAP-5.2-01", "RDMAP-5.2.2-04", "RDMAP-4.4-02"})
    void aRequestIsAnsweredByOneResponseOfTheSizeAskedFor(int size) {
        stream.input(readRequest(1, SINK, 0x1_0000_0005L, size, source.stag(), 0));

        List<Segment> response = stream.output();

        assertThat(payloadOf(response)).isEqualTo(Arrays.copyOf(data, size));
        assertThat(response).hasSize((size + 1009) / 1010);
        assertThat(response).extracting(Segment::opcode).containsOnly(RdmapControl.RDMA_READ_RESPONSE);
        assertThat(response).extracting(Segment::stag).containsOnly(SINK);
        for (int i = 0; i < response.size(); i++) {
            assertThat(response.get(i).to()).isEqualTo(0x1_0000_0005L + i * 1010L);
            assertThat(response.get(i).last()).isEqualTo(i == response.size() - 1);
        }
    }

    @Test
    @Requirement("RDMAP-4.4-03")
    void offsetsNeedNoAlignment() {
        MemoryRegion based = stream.memory().region(0x1003, 64, AccessRight.REMOTE_READ);
        TestMemory.put(based, 0, Arrays.copyOf(data, 64));

        stream.input(readRequest(1, SINK, 5, 7, based.stag(), 0x1006));

        assertThat(stream.onlyOutput().octets())
                .isEqualTo(join(hex("C1 42 51A65A61 0000000000000005"), Arrays.copyOfRange(data, 3, 10)));
    }

    @Test
    @Requirement({"RDMAP-5.2.1-08", "RDMAP-5.2.1-09", "RDMAP-4.4-04"})
    void aRequestForNothingIsAnsweredWithNothingAndItsSourceIsNotChecked() {
        stream.input(readRequest(1, SINK, 0x123456789L, 0, 0xFFFF_FFFF, -1L));

        assertThat(stream.onlyOutput().octets()).isEqualTo(hex("C1 42 51A65A61 0000000123456789"));
        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);
    }

    @Test
    @Requirement("RDMAP-4.1-08")
    void theInvalidateFieldOfARequestIsIgnored() {
        MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);

        stream.input(
                untagged(UNTAGGED_LAST, 0x41, advertised.stag(), 1, 1, 0, requestFor(8)),
                untagged(UNTAGGED_LAST, 0x41, 0xDEADBEEF, 1, 2, 0, requestFor(8)));

        assertThat(stream.output()).extracting(Segment::payload).containsExactly(first(8), first(8));
        assertThat(advertised.isValid()).isTrue();
    }

    private byte[] requestFor(int octets) {
        return readRequestHeader(SINK, 0, octets, source.stag(), 0);
    }

    private byte[] first(int octets) {
        return Arrays.copyOf(data, octets);
    }

    @Test
    @Requirement({"RDMAP-5.2.1-03", "RDMAP-5.5-20", "RDMAP-B-01"})
    void responsesComeInTheOrderOfTheRequestsAndAreNotInterleaved() {
        stream.wire().room(1);
        stream.input(
                readRequest(1, 11, 0, 5000, source.stag(), 0),
                readRequest(2, 12, 0, 1, source.stag(), 0),
                readRequest(3, 13, 0, 0, 0, 0),
                readRequest(4, 14, 0, 2000, source.stag(), 0));

        assertThat(stream.output()).extracting(Segment::stag).containsExactly(11, 11, 11, 11, 11, 12, 13, 14, 14);
    }

    @Test
    @Requirement({"RDMAP-5.5-12", "RDMAP-5.5-17"})
    void aReadBehindAWriteReturnsWhatWasWritten() {
        for (int i = 0; i < 100; i++) {
            byte[] fresh = pattern(32, i);
            stream.input(write(source.stag(), 7, fresh), readRequest(i + 1, SINK, 0, 32, source.stag(), 7));

            assertThat(stream.onlyOutput().payload()).isEqualTo(fresh);
        }
    }

    @Test
    @Requirement({"RDMAP-5.5-12", "RDMAP-5.5-17"})
    void aRequestIsNotWorkedOnBeforeItIsDelivered() {
        byte[] header = readRequestHeader(SINK, 0, 8, source.stag(), 0);

        stream.input(untagged(0x01, 0x41, 0, 1, 1, 0, header));
        assertThat(stream.output()).isEmpty();
        stream.input(write(source.stag(), 0, hex("A1A2A3A4A5A6A7A8")));
        stream.input(untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 28, new byte[0]));

        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("A1A2A3A4A5A6A7A8"));
    }

    @Test
    @Requirement("RDMAP-B-01")
    void aReadBehindASendThatFailsIsNotAnswered() {
        stream.input(send(1, hex("01")), readRequest(1, SINK, 0, 8, source.stag(), 0));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("12 02 C0 00"));
    }

    @Test
    @Requirement("RDMAP-5.5-18")
    void aSendIsDeliveredWhileAnEarlierReadIsStillAnswered() {
        stream.endpoint().receive(1).with(stream.region(8)).post();
        stream.wire().room(1);
        stream.input(readRequest(1, SINK, 0, 8000, source.stag(), 0));
        stream.wire().output();
        assertThat(stream.wire().pending()).isEqualTo(1);

        stream.input(send(1, hex("01")));

        assertThat(stream.completions().receiveIds()).containsExactly(1L);
        assertThat(payloadOf(stream.output())).hasSize(8000);
    }

    @Test
    @Requirement({"RDMAP-5.2.2-01", "RDMAP-6.1-02"})
    void asManyRequestsAsIrdAreTakenInOneBurst() {
        stream.wire().room(0);
        for (int i = 1; i <= IRD; i++) {
            stream.input(readRequest(i, i, 0, 1, source.stag(), i));
        }
        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);

        stream.wire().room(Integer.MAX_VALUE);

        assertThat(stream.output()).extracting(Segment::stag).containsExactly(1, 2, 3, 4);
    }

    @Test
    @Requirement({"RDMAP-6.1-04", "RDMAP-4.8-06"})
    void oneRequestMoreThanIrdEndsTheStream() {
        stream.wire().room(0);
        for (int i = 1; i <= IRD; i++) {
            stream.input(readRequest(i, i, 0, 1, source.stag(), i));
        }
        byte[] tooMany = readRequest(IRD + 1, 5, 0, 1, source.stag(), 5);

        stream.input(tooMany);
        stream.wire().room(Integer.MAX_VALUE);

        assertThat(stream.onlyOutput().payload()).isEqualTo(join(hex("02 07 C0 00 002E"), Arrays.copyOf(tooMany, 18)));
    }

    @Test
    @Requirement("RDMAP-6.1-04")
    void anAnsweredRequestMakesRoomForTheNext() {
        for (int i = 1; i <= 10 * IRD; i++) {
            stream.input(readRequest(i, i, 0, 1, source.stag(), i));
            assertThat(stream.onlyOutput().stag()).isEqualTo(i);
        }
    }

    @Test
    @Requirement("RDMAP-6.1-02")
    void anIrdOf0TakesNoRequestAtAll() {
        try (LoneStream without = new LoneStream(EndpointOptions.defaults().reads(0, 4))) {
            without.input(readRequest(1, SINK, 0, 0, 0, 0));

            assertThat(without.onlyOutput().payload()).startsWith(hex("02 07 C0 00"));
        }
    }

    @Test
    @Requirement("RDMAP-8.1.2-07")
    void theRequestsOfOneStreamTakeNothingFromAnother() {
        try (LoneStream other = new LoneStream(
                EndpointOptions.defaults().memory(stream.memory()).queuePair(2).reads(IRD, 4))) {
            stream.wire().room(0);
            for (int i = 1; i <= IRD; i++) {
                stream.input(readRequest(i, i, 0, 1, source.stag(), i));
            }

            for (int i = 1; i <= IRD; i++) {
                other.input(readRequest(i, i, 0, 1, source.stag(), i));
            }

            assertThat(other.output()).hasSize(IRD);
        }
    }

    @Test
    @Requirement({"RDMAP-4.2-02", "RDMAP-7.2-01"})
    void aRequestOfTheWrongSizeIsRefusedAndNotAnswered() {
        byte[] header = readRequestHeader(SINK, 0, 8, source.stag(), 0);
        assertRefused(untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 0, Arrays.copyOf(header, 27)), "02 FF C0 00 002D");
        assertRefused(untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 0, Arrays.copyOf(header, 0)), "02 FF C0 00 0012");
        assertRefused(untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 0, Arrays.copyOf(header, 32)), "12 05 C0 00 0032");
    }

    private static void assertRefused(byte[] request, String terminate) {
        try (LoneStream fresh = new LoneStream()) {
            fresh.input(request);

            assertThat(fresh.onlyOutput().payload()).isEqualTo(join(hex(terminate), Arrays.copyOf(request, 18)));
        }
    }

    private void assertProtectionError(String terminate, int stag, long to, long size) {
        byte[] request = readRequest(1, SINK, 0x77, size, stag, to);

        stream.input(request);

        assertThat(stream.onlyOutput().octets()).hasSize(18 + 52).endsWith(join(hex(terminate, "E0 00 002E"), request));
    }

    @Test
    @Requirement({"RDMAP-7.2-05", "RDMAP-5.2.1-07", "RDMAP-4.8-05", "RDMAP-4.8-11", "RDMAP-7.1-04"})
    void anUnknownSourceIsAnInvalidStag() {
        assertProtectionError("01 00", 0x01020304, 0, 1);
    }

    @Test
    @Requirement({"RDMAP-7.2-05", "RDMAP-8.1.1-05"})
    void aSourceWithoutTheRightToReadIsAnAccessViolation() {
        MemoryRegion writeOnly = stream.memory().region(64, AccessRight.REMOTE_WRITE, AccessRight.LOCAL_WRITE);

        assertProtectionError("01 02", writeOnly.stag(), 0, 1);
    }

    @Test
    @Requirement({"RDMAP-7.2-06", "RDMAP-8.1.1-01"})
    void aSourceOfAnotherDomainIsNotAssociated() {
        MemoryRegion foreign = stream.memory().region(new Pd(5), 0, 0, 64, AccessRight.REMOTE_READ);

        assertProtectionError("01 03", foreign.stag(), 0, 1);
    }

    @Test
    @Requirement({"RDMAP-7.2-06", "RDMAP-8.1.1-02"})
    void aSourceOfAnotherStreamIsNotAssociated() {
        MemoryRegion others = stream.memory().regionOf(2, 64, AccessRight.REMOTE_READ);

        assertProtectionError("01 03", others.stag(), 0, 1);
    }

    @ParameterizedTest(name = "{1} octets at base + {0}")
    @CsvSource({"-1, 1", "-1, 65", "0, 65", "64, 1", "63, 2", "0, 4294967295"})
    @Requirement({"RDMAP-7.2-07", "RDMAP-7.1-04", "RDMAP-8.1.1-03"})
    void aRangeOutsideOfTheSourceIsABoundsViolation(long offset, long size) {
        MemoryRegion based = stream.memory().region(0x10_0000, 64, AccessRight.REMOTE_READ);

        assertProtectionError("01 01", based.stag(), 0x10_0000 + offset, size);
    }

    @Test
    @Requirement({"RDMAP-7.2-08", "RDMAP-4.8-05"})
    void aRangeThatWrapsIsAnErrorOfItsOwn() {
        MemoryRegion top = stream.memory().region(-64, 64, AccessRight.REMOTE_READ);

        assertProtectionError("01 04", top.stag(), -16, 0x20);
    }

    @Test
    @Requirement("RDMAP-7.2-07")
    void theWholeOfASourceAtTheTopOfTheRangeCanBeRead() {
        MemoryRegion top = stream.memory().region(-64, 64, AccessRight.REMOTE_READ);

        stream.input(readRequest(1, SINK, 0, 64, top.stag(), -64));

        assertThat(stream.onlyOutput().payload()).hasSize(64);
    }

    @Test
    @Requirement("RDMAP-7.1-04")
    void aRequestThatCameInTwoSegmentsIsReturnedWhole() {
        byte[] header = readRequestHeader(SINK, 0x77, 1, 0x01020304, 0);
        byte[] second = untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 20, Arrays.copyOfRange(header, 20, 28));

        stream.input(untagged(0x01, 0x41, 0, 1, 1, 0, Arrays.copyOf(header, 20)), second);

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(join(hex("01 00 E0 00 001A"), Arrays.copyOf(second, 18), header));
    }

    @Test
    void responsesAndOwnWorkTakeTurns() {
        stream.wire().room(1);
        for (int i = 1; i <= 3; i++) {
            stream.endpoint().send(i).post();
            stream.input(readRequest(i, i, 0, 2000, source.stag(), 0));
        }

        assertThat(stream.output()).extracting(Segment::opcode).containsExactly(2, 2, 3, 2, 2, 3, 2, 2, 3);
    }
}
