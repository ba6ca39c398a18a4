// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.UNTAGGED_LAST;
import static io.sidewarp.engine.testing.Ulpdus.UNTAGGED_MORE;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendLast;
import static io.sidewarp.engine.testing.Ulpdus.sendMore;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
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

class DdpUntaggedReceiverTest {

    private static final byte[] NOTHING = new byte[0];

    @AutoClose
    private final TestMemory memory = new TestMemory();

    private final RecordingDdpUser user = new RecordingDdpUser(3);
    private final DdpReceiver receiver =
            new DdpReceiver(user, memory.stags(), new RegionUser(memory.protectionDomain(), 1), 3);

    private void input(byte[]... segments) {
        input(receiver, segments);
    }

    /** Segments lie in the middle of other octets, as they do in a buffer of the transport. */
    private static void input(DdpReceiver to, byte[]... segments) {
        for (byte[] segment : segments) {
            WireBuffer buffer = WireBuffer.allocate(segment.length + 10);
            buffer.putBytes(5, segment, 0, segment.length);
            to.onSegment(buffer, 5, segment.length);
        }
    }

    @Test
    @Requirement({"DDP-5.2-03", "DDP-4.1-02"})
    void segmentsArePlacedIntoTheBufferAtTheirMessageOffset() {
        byte[] message = pattern(300, 1);
        user.post(0, 512);

        input(
                sendMore(1, 0, Arrays.copyOfRange(message, 0, 100)),
                sendMore(1, 100, Arrays.copyOfRange(message, 100, 101)),
                sendLast(1, 101, Arrays.copyOfRange(message, 101, 300)));

        assertThat(user.untagged()).hasSize(1);
        assertThat(Arrays.copyOf(user.untagged().getFirst().octets(), 300)).isEqualTo(message);
        assertThat(Arrays.copyOfRange(user.untagged().getFirst().octets(), 300, 512))
                .containsOnly(0);
    }

    @Test
    @Requirement({"DDP-5.4-01", "RDMAP-5.5-16"})
    void nothingIsDeliveredBeforeTheLastSegment() {
        user.post(0, 512);

        input(sendMore(1, 0, pattern(512, 1)));

        assertThat(user.untagged()).isEmpty();

        input(sendLast(1, 512, NOTHING));

        assertThat(user.untagged()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 1", "0, 1006", "1006, 1", "1006, 1006", "4000, 96"})
    @Requirement("DDP-5.4-02")
    void aDeliveryStatesTheLengthOfTheMessage(int offset, int length) {
        user.post(0, 4096);
        if (offset > 0) {
            input(sendMore(1, 0, new byte[offset]));
        }

        input(sendLast(1, offset, new byte[length]));

        assertThat(user.untagged()).extracting(Delivery::length).containsExactly((long) offset + length);
    }

    @Test
    @Requirement({"DDP-5.3-05", "DDP-4.3-03"})
    void messagesAreDeliveredInTheOrderSentWithTheirMsn() {
        for (int i = 0; i < 3; i++) {
            user.post(0, 8);
            user.post(1, 8);
        }

        input(
                send(1, hex("01")),
                untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 0, hex("02")),
                send(2, hex("03")),
                send(3, hex("04")),
                untagged(UNTAGGED_LAST, 0x41, 0, 1, 2, 0, hex("05")));

        assertThat(user.untagged())
                .extracting(delivery -> delivery.octets()[0])
                .containsExactly((byte) 1, (byte) 2, (byte) 3, (byte) 4, (byte) 5);
        assertThat(user.untagged()).extracting(Delivery::msn).containsExactly(1, 1, 2, 3, 2);
        assertThat(user.untagged()).extracting(Delivery::qn).containsExactly(0, 1, 0, 0, 1);
    }

    @Test
    @Requirement("DDP-4.3-03")
    void theMsnAfterTheLargestIs0() {
        DdpReceiver late =
                new DdpReceiver(user, memory.stags(), new RegionUser(memory.protectionDomain(), 1), 1, 0xFFFF_FFFE);
        for (int i = 0; i < 4; i++) {
            user.post(0, 8);
        }

        input(late, send(0xFFFF_FFFE, NOTHING), send(0xFFFF_FFFF, NOTHING), send(0, NOTHING), send(1, NOTHING));

        assertThat(user.refusals()).isEmpty();
        assertThat(user.untagged()).extracting(Delivery::msn).containsExactly(-2, -1, 0, 1);
    }

    @Test
    @Requirement("RDMAP-3.1-03")
    void theUlpOctetsReachTheUlpUnchanged() {
        for (int control = 0; control < 256; control++) {
            user.post(0, 8);
            input(untagged(UNTAGGED_LAST, control, 0x01020304 * control, 0, control + 1, 0, NOTHING));
        }

        assertThat(user.untagged()).hasSize(256);
        for (int control = 0; control < 256; control++) {
            assertThat(user.untagged().get(control).ulpControl()).isEqualTo(control);
            assertThat(user.untagged().get(control).ulpWord()).isEqualTo(0x01020304 * control);
        }
    }

    @Test
    @Requirement("DDP-4.3-05")
    void ulpOctetsThatDifferWithinAMessageDoNoHarm() {
        user.post(0, 8);

        input(
                untagged(UNTAGGED_MORE, 0x43, 0, 0, 1, 0, hex("0A")),
                untagged(UNTAGGED_LAST, 0x44, 0x55667788, 0, 1, 1, hex("0B")));

        assertThat(user.refusals()).isEmpty();
        assertThat(user.untagged()).hasSize(1);
        assertThat(user.untagged().getFirst().octets()).startsWith(0x0A, 0x0B);
    }

    @Test
    @Requirement("DDP-4.1-05")
    void reservedBitsAreNotChecked() {
        user.post(0, 8);

        input(untagged(UNTAGGED_LAST | 0x3C, 0x43, 0, 0, 1, 0, hex("0A")));

        assertThat(user.untagged()).hasSize(1);
    }

    @Test
    @Requirement("DDP-5.3-03")
    void segmentsOfAMessageMayComeInAnyOrderAndTwice() {
        user.post(0, 4);

        input(
                sendMore(1, 2, hex("03")),
                sendMore(1, 0, hex("0102")),
                sendMore(1, 0, hex("01")),
                sendLast(1, 3, hex("04")));

        assertThat(user.untagged()).hasSize(1);
        assertThat(user.untagged().getFirst().octets()).isEqualTo(hex("01020304"));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, Integer.MAX_VALUE, 0x8000_0000, -1})
    @Requirement({"DDP-7.1-01", "DDP-7.1-10"})
    void aQueueNumberThatDoesNotExistIsAnInvalidQn(int qn) {
        input(untagged(UNTAGGED_LAST, 0x43, 0, qn, 1, 0, hex("00")));

        assertThat(user.error()).isEqualTo(DdpError.INVALID_QN);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @Requirement("DDP-7.1-02")
    void aMessageWithoutBufferIsRefusedEvenIfItIsEmpty(int length) {
        input(send(1, new byte[length]));

        assertThat(user.error()).isEqualTo(DdpError.MSN_NO_BUFFER);
    }

    @Test
    @Requirement({"DDP-7.1-03", "DDP-7.1-10"})
    void aMessageOffsetOutsideOfTheBufferIsAnInvalidMo() {
        user.post(0, 4096);

        input(sendLast(1, 0xFFFF_FFF0L, new byte[16]));

        assertThat(user.error()).isEqualTo(DdpError.INVALID_MO);
        assertThat(user.buffer(0)).containsOnly(0);
    }

    @ParameterizedTest
    @CsvSource({"4000, 200", "4096, 1", "4095, 2", "0, 4097"})
    @Requirement({"DDP-7.1-04", "DDP-7.1-10"})
    void aSegmentThatReachesBeyondTheBufferIsTooLongAndNotPlacedInPart(int offset, int length) {
        user.post(0, 4096);

        input(sendLast(1, offset, pattern(length, 1)));

        assertThat(user.error()).isEqualTo(DdpError.MESSAGE_TOO_LONG);
        assertThat(user.buffer(0)).containsOnly(0);
    }

    @Test
    void aMessageThatFillsTheBufferExactlyFits() {
        user.post(0, 4096);
        byte[] message = pattern(4096, 1);

        input(sendMore(1, 0, Arrays.copyOf(message, 4095)), sendLast(1, 4095, Arrays.copyOfRange(message, 4095, 4096)));

        assertThat(user.untagged().getFirst().octets()).isEqualTo(message);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 1000, 0x8000_0002, -1})
    @Requirement("DDP-7.1-05")
    void anMsnOtherThanTheNextIsOutOfRange(int msn) {
        user.post(0, 8);
        user.post(0, 8);
        user.post(0, 8);
        input(send(1, NOTHING));

        input(send(msn, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.MSN_RANGE);
        assertThat(user.untagged()).hasSize(1);
        assertThat(user.buffer(0)).containsOnly(0);
    }

    @Test
    @Requirement("DDP-5.3-04")
    void aReplayedMessageIsNotDeliveredAgain() {
        user.post(0, 8);
        user.post(0, 8);

        input(send(1, hex("01")), send(1, hex("01")));

        assertThat(user.untagged()).hasSize(1);
        assertThat(user.error()).isEqualTo(DdpError.MSN_RANGE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3})
    @Requirement({"DDP-4.1-06", "DDP-6.2.2-01"})
    void anotherVersionIsInvalid(int version) {
        user.post(0, 8);

        input(untagged(0x40 | version, 0x43, 0, 0, 1, 0, hex("01")));

        assertThat(user.error()).isEqualTo(DdpError.UNTAGGED_VERSION);
    }

    @Test
    void theVersionAgreedOnIsTheOnlyValidOne() {
        user.post(0, 8);
        receiver.setVersion(0);

        input(untagged(0x40, 0x03, 0, 0, 1, 0, hex("01")), send(2, hex("01")));

        assertThat(user.untagged()).hasSize(1);
        assertThat(user.error()).isEqualTo(DdpError.UNTAGGED_VERSION);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 13, 17})
    @Requirement("DDP-4.4-01")
    void aSegmentShorterThanItsHeaderIsRefused(int length) {
        user.post(0, 8);

        input(Arrays.copyOf(send(1, NOTHING), length));

        assertThat(user.error()).isEqualTo(DdpError.LOCAL_CATASTROPHIC);
        assertThat(user.untagged()).isEmpty();
    }

    @Test
    @Requirement("DDP-7.1-11")
    void theReportOfAnErrorHasTheWholeSegment() {
        byte[] segment = send(9, pattern(100, 1));
        user.post(0, 512);

        input(segment);

        assertThat(user.refusals().getFirst().segment()).isEqualTo(segment);
        assertThat(receiver.segmentLength()).isEqualTo(118);
    }

    @Test
    @Requirement({"DDP-7.1-12", "DDP-6.2.2-01"})
    void everythingBehindAnErrorIsDropped() {
        user.post(0, 8);
        user.post(0, 8);

        input(send(2, NOTHING), send(1, hex("01")), send(5, NOTHING), hex("FF"), NOTHING);

        assertThat(user.refusals()).hasSize(1);
        assertThat(user.untagged()).isEmpty();
        assertThat(user.buffer(0)).containsOnly(0);
        assertThat(receiver.segments()).isZero();
    }

    @Test
    void validSegmentsAreCounted() {
        user.post(0, 8);

        input(sendMore(1, 0, hex("01")), sendLast(1, 1, hex("02")), send(7, NOTHING));

        assertThat(receiver.segments()).isEqualTo(2);
    }
}
