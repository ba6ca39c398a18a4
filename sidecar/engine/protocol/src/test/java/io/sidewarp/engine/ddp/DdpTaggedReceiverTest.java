// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.TAGGED_LAST;
import static io.sidewarp.engine.testing.Ulpdus.TAGGED_MORE;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.tagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static io.sidewarp.engine.testing.Ulpdus.writeMore;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.RecordingDdpUser;
import io.sidewarp.engine.testing.RecordingDdpUser.Delivery;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.DdpError;
import java.util.Arrays;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DdpTaggedReceiverTest {

    private static final long QUEUE_PAIR = 7;
    private static final int LENGTH = 256;

    @AutoClose
    private final TestMemory memory = new TestMemory();

    private final RecordingDdpUser user = new RecordingDdpUser(3);
    private final DdpReceiver receiver =
            new DdpReceiver(user, memory.stags(), new RegionUser(memory.protectionDomain(), QUEUE_PAIR), 3);
    private final MemoryRegion region = memory.region(LENGTH);

    private void input(byte[]... segments) {
        for (byte[] segment : segments) {
            WireBuffer buffer = WireBuffer.allocate(segment.length + 10);
            buffer.putBytes(7, segment, 0, segment.length);
            receiver.onSegment(buffer, 7, segment.length);
        }
    }

    private void assertUntouched(MemoryRegion untouched) {
        assertThat(TestMemory.get(untouched)).containsOnly(0);
        assertThat(user.tagged()).isEmpty();
    }

    @Test
    @Requirement({"DDP-5.2-03", "DDP-4.1-02"})
    void segmentsArePlacedIntoTheTaggedBufferAtTheirOffset() {
        byte[] message = pattern(200, 1);

        input(
                writeMore(region.stag(), 10, Arrays.copyOf(message, 150)),
                write(region.stag(), 160, Arrays.copyOfRange(message, 150, 200)));

        assertThat(TestMemory.get(region, 10, 200)).isEqualTo(message);
        assertThat(TestMemory.get(region, 0, 10)).containsOnly(0);
        assertThat(TestMemory.get(region, 210, 46)).containsOnly(0);
        assertThat(user.refusals()).isEmpty();
    }

    @Test
    @Requirement({"DDP-4.2-02", "DDP-4.2-03", "RDMAP-3.1-03"})
    void stagAndUlpOctetReachTheUlpWithTheMessage() {
        for (int control = 0; control < 256; control++) {
            input(tagged(TAGGED_LAST, control, region.stag(), control, hex("AA")));
        }

        assertThat(user.tagged()).hasSize(256);
        for (int control = 0; control < 256; control++) {
            assertThat(user.tagged().get(control).ulpControl()).isEqualTo(control);
            assertThat(user.tagged().get(control).to()).isEqualTo(control);
            assertThat(user.tagged().get(control).stag()).isEqualTo(region.stag());
        }
    }

    @Test
    @Requirement("DDP-5.4-01")
    void onlyTheLastSegmentEndsAMessage() {
        input(
                writeMore(region.stag(), 0, hex("01")),
                writeMore(region.stag(), 1, hex("02")),
                write(region.stag(), 2, hex("03")));

        assertThat(user.tagged()).extracting(Delivery::last).containsExactly(false, false, true);
    }

    @Test
    @Requirement("DDP-5.3-05")
    void taggedAndUntaggedMessagesReachTheUlpInTheOrderSent() {
        user.post(0, 8);

        input(writeMore(region.stag(), 0, hex("01")));
        assertThat(user.untagged()).isEmpty();
        input(write(region.stag(), 1, hex("02")));
        assertThat(user.tagged()).hasSize(2);
        input(send(1, hex("03")));

        assertThat(user.untagged()).hasSize(1);
    }

    @Test
    @Requirement("DDP-4.1-05")
    void reservedBitsAreNotChecked() {
        input(tagged(TAGGED_LAST | 0x3C, 0x40, region.stag(), 0, hex("01")));

        assertThat(user.refusals()).isEmpty();
        assertThat(TestMemory.get(region, 0, 1)).isEqualTo(hex("01"));
    }

    @Test
    @Requirement("DDP-5.2-07")
    void octetsThatWereLeftOutAreNotMissed() {
        user.post(0, 8);

        input(writeMore(region.stag(), 0, hex("01")), write(region.stag(), 200, hex("02")), send(1, hex("03")));

        assertThat(user.refusals()).isEmpty();
        assertThat(user.untagged()).hasSize(1);
    }

    @Test
    @Requirement("DDP-5.3-03")
    void segmentsMayComeInAnyOrderAndTwice() {
        input(
                writeMore(region.stag(), 2, hex("0304")),
                writeMore(region.stag(), 0, hex("0102")),
                writeMore(region.stag(), 0, hex("0102")),
                write(region.stag(), 4, hex("05")));

        assertThat(TestMemory.get(region, 0, 5)).isEqualTo(hex("0102030405"));
    }

    @Test
    @Requirement("DDP-5.2-08")
    void stagAndOffsetOfAZeroLengthMessageAreNotChecked() {
        input(write(0xFFFF_FFFF, -1L, new byte[0]), write(0, 0, new byte[0]));

        assertThat(user.refusals()).isEmpty();
        assertThat(user.tagged()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 0x12345678})
    @Requirement({"DDP-7.1-06", "DDP-7.1-10"})
    void anUnknownStagIsInvalid(int stag) {
        input(write(stag == region.stag() ? stag + 1 : stag, 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.INVALID_STAG);
        assertUntouched(region);
    }

    @Test
    @Requirement({"DDP-7.1-06", "DDP-8.3-01", "RDMAP-8.1.1-04"})
    void anInvalidatedStagIsInvalid() {
        region.invalidate();

        input(write(region.stag(), 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.INVALID_STAG);
        assertUntouched(region);
    }

    @Test
    @Requirement({"DDP-7.1-06", "DDP-8.3-01", "RDMAP-8.1.1-04"})
    void aDeregisteredStagIsInvalid() {
        int stag = region.stag();
        memory.deregister(region);

        input(write(stag, 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.INVALID_STAG);
    }

    @Test
    @Requirement("DDP-7.1-06")
    void anStagThatMayNotBeWrittenToIsInvalid() {
        MemoryRegion readOnly = memory.region(LENGTH, AccessRight.LOCAL_WRITE, AccessRight.REMOTE_READ);

        input(write(readOnly.stag(), 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.INVALID_STAG);
        assertUntouched(readOnly);
    }

    @Test
    @Requirement({"DDP-7.1-06", "DDP-8.2-01", "RDMAP-8.1.1-01"})
    void anStagOfAnotherDomainIsNotAssociated() {
        MemoryRegion foreign = memory.region(new Pd(2), 0, 0, LENGTH, AccessRight.REMOTE_WRITE);

        input(write(foreign.stag(), 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.STAG_NOT_ASSOCIATED);
        assertUntouched(foreign);
    }

    @Test
    @Requirement({"DDP-7.1-06", "DDP-8.2-01", "RDMAP-8.1.1-02"})
    void anStagOfAnotherStreamIsNotAssociatedEvenInTheSameDomain() {
        MemoryRegion others = memory.regionOf(QUEUE_PAIR + 1, LENGTH, AccessRight.REMOTE_WRITE);

        input(write(others.stag(), 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.STAG_NOT_ASSOCIATED);
        assertUntouched(others);
    }

    @Test
    @Requirement({"DDP-8.2-01", "DDP-8.3-02"})
    void anStagOfThisStreamIsUsable() {
        MemoryRegion own = memory.regionOf(QUEUE_PAIR, LENGTH, AccessRight.REMOTE_WRITE);

        input(write(own.stag(), 0, hex("01")));

        assertThat(TestMemory.get(own, 0, 1)).isEqualTo(hex("01"));
    }

    @ParameterizedTest(name = "{1} octets at base + {0}")
    @CsvSource({"-1, 1", "-1, 2", "256, 1", "255, 2", "0, 257", "-256, 1", "1000000, 1"})
    @Requirement({"DDP-7.1-07", "DDP-7.1-10", "RDMAP-8.1.1-03"})
    void noOctetOutsideOfTheRegionIsReachable(long offset, int length) {
        long base = 0x1_0000_0000L;
        MemoryRegion based = memory.region(base, LENGTH, AccessRight.REMOTE_WRITE);

        input(write(based.stag(), base + offset, pattern(length, 1)));

        assertThat(user.error()).isEqualTo(DdpError.BASE_OR_BOUNDS);
        assertUntouched(based);
    }

    @ParameterizedTest
    @CsvSource({"0, 256", "0, 1", "255, 1", "100, 156"})
    @Requirement("DDP-7.1-07")
    void whatFitsExactlyIsPlaced(int offset, int length) {
        long base = 0xFFFF_FFFF_FFFF_FF00L;
        MemoryRegion based = memory.region(base, LENGTH, AccessRight.REMOTE_WRITE);
        byte[] octets = pattern(length, 1);

        input(write(based.stag(), base + offset, octets));

        assertThat(user.refusals()).isEmpty();
        assertThat(TestMemory.get(based, offset, length)).isEqualTo(octets);
    }

    @Test
    @Requirement({"DDP-7.1-07", "DDP-8.3.1-01"})
    void everySegmentIsCheckedAndNotOnlyTheFirst() {
        input(writeMore(region.stag(), 0, new byte[200]), write(region.stag(), 200, pattern(57, 1)));

        assertThat(user.error()).isEqualTo(DdpError.BASE_OR_BOUNDS);
        assertThat(TestMemory.get(region)).containsOnly(0);
    }

    @Test
    @Requirement({"DDP-8.3.1-01", "DDP-8.3-01", "RDMAP-8.1.1-06"})
    void anStagRevokedBetweenTwoSegmentsOfAMessageStopsTheSecond() {
        input(tagged(TAGGED_MORE, 0x40, region.stag(), 0, hex("01")));
        region.invalidate();

        input(write(region.stag(), 1, hex("02")));

        assertThat(user.error()).isEqualTo(DdpError.INVALID_STAG);
        assertThat(TestMemory.get(region, 0, 2)).isEqualTo(hex("0100"));
    }

    @ParameterizedTest
    @CsvSource({"-8, 16", "-1, 2"})
    @Requirement("DDP-7.1-08")
    void aSumOfOffsetAndLengthThatWrapsIsAnErrorOfItsOwn(long to, int length) {
        MemoryRegion top = memory.region(0xFFFF_FFFF_FFFF_FF00L, LENGTH, AccessRight.REMOTE_WRITE);

        input(write(top.stag(), to, pattern(length, 1)));

        assertThat(user.error()).isEqualTo(DdpError.TO_WRAP);
        assertUntouched(top);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3})
    @Requirement("DDP-4.1-06")
    void anotherVersionIsInvalid(int version) {
        input(tagged(0xC0 | version, 0x40, region.stag(), 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.TAGGED_VERSION);
        assertUntouched(region);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 13})
    @Requirement("DDP-4.4-01")
    void aSegmentShorterThanItsHeaderIsRefused(int length) {
        input(Arrays.copyOf(write(region.stag(), 0, new byte[0]), length));

        assertThat(user.error()).isEqualTo(DdpError.LOCAL_CATASTROPHIC);
        assertThat(user.tagged()).isEmpty();
    }

    @Test
    @Requirement("DDP-7.1-11")
    void theReportOfAnErrorHasTheWholeSegment() {
        byte[] segment = write(region.stag(), 1000, pattern(60, 1));

        input(segment);

        assertThat(user.refusals().getFirst().segment()).isEqualTo(segment);
        assertThat(receiver.segmentLength()).isEqualTo(74);
    }

    @Test
    @Requirement("DDP-7.1-12")
    void everythingBehindAnErrorIsDropped() {
        input(write(region.stag(), 1000, hex("01")), write(region.stag(), 0, hex("02")), write(0, 0, hex("03")));

        assertThat(user.refusals()).hasSize(1);
        assertUntouched(region);
    }
}
