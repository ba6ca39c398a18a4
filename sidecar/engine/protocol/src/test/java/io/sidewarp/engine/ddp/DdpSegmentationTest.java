// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.SenderUpper;
import io.sidewarp.engine.testing.WireEnd;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DdpSegmentationTest {

    private static final int CONTROL = 0x43;
    private static final int STAG = 0x0BADCAFE;

    private final WireEnd wire = new WireEnd().mulpdu(1500);
    private final DdpSender sender = new DdpSender(3);
    private final SenderUpper upper = new SenderUpper(wire, sender);

    @BeforeEach
    void attach() {
        wire.attach(upper);
    }

    private static PayloadSource sourceOf(byte[] octets) {
        return (at, target, targetOffset, length) -> target.putBytes(targetOffset, octets, (int) at, length);
    }

    private List<Segment> sendUntagged(byte[] octets) {
        sender.beginUntagged(CONTROL, 0, 0, sourceOf(octets), octets.length);
        return upper.output();
    }

    private List<Segment> sendTagged(long to, byte[] octets) {
        sender.beginTagged(0x40, STAG, to, sourceOf(octets), octets.length);
        return upper.output();
    }

    private static byte[] payloadOf(List<Segment> segments) {
        return Octets.join(segments.stream().map(Segment::payload).toArray(byte[][]::new));
    }

    @Test
    @Requirement({"DDP-5.2-04", "DDP-4.3-04"})
    void anUntaggedMessageOf2048OctetsAtMulpdu1500HasOffsets0And1482() {
        List<Segment> segments = sendUntagged(Octets.pattern(2048, 1));

        assertThat(segments).extracting(Segment::mo).containsExactly(0L, 1482L);
        assertThat(segments).extracting(segment -> segment.payload().length).containsExactly(1482, 566);
    }

    @Test
    @Requirement("DDP-5.2-05")
    void aTaggedMessageOf2048OctetsFrom16384AtMulpdu1500HasOffsets16384And17870() {
        List<Segment> segments = sendTagged(16384, Octets.pattern(2048, 1));

        assertThat(segments).extracting(Segment::to).containsExactly(16384L, 17870L);
        assertThat(segments).extracting(segment -> segment.payload().length).containsExactly(1486, 562);
    }

    @Test
    @Requirement({"DDP-5.2-01", "DDP-5.3-02"})
    void allOctetsGoOutInAscendingSegmentsNoLargerThanTheMulpdu() {
        byte[] message = Octets.pattern(15_000, 2);

        List<Segment> segments = sendUntagged(message);

        assertThat(segments).allSatisfy(segment -> assertThat(segment.length()).isLessThanOrEqualTo(1500));
        assertThat(segments).extracting(Segment::mo).isSorted().doesNotHaveDuplicates();
        assertThat(payloadOf(segments)).isEqualTo(message);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1481, 1482, 1483, 2964, 2965, 14_820})
    @Requirement({"DDP-4.1-03", "DDP-4.1-04"})
    void onlyTheLastSegmentIsMarkedLastAndItEndsTheMessage(int length) {
        List<Segment> segments = sendUntagged(Octets.pattern(length, length));

        assertThat(segments).hasSize((length + 1481) / 1482);
        assertThat(segments.getLast().last()).isTrue();
        assertThat(segments.subList(0, segments.size() - 1)).noneMatch(Segment::last);
        assertThat(segments.getLast().mo() + segments.getLast().payload().length)
                .isEqualTo(length);
    }

    @Test
    @Requirement("DDP-5.2-06")
    void aZeroLengthUntaggedMessageIsOneSegmentOf18Octets() {
        List<Segment> segments = sendUntagged(new byte[0]);

        assertThat(segments).hasSize(1);
        assertThat(segments.getFirst().octets()).isEqualTo(Octets.hex("41 43 00000000 00000000 00000001 00000000"));
    }

    @Test
    @Requirement("DDP-5.2-06")
    void aZeroLengthTaggedMessageIsOneSegmentOf14Octets() {
        List<Segment> segments = sendTagged(7, new byte[0]);

        assertThat(segments).hasSize(1);
        assertThat(segments.getFirst().octets()).isEqualTo(Octets.hex("C1 40 0BADCAFE 0000000000000007"));
    }

    @Test
    @Requirement({"DDP-4.2-02", "DDP-4.2-03"})
    void stagAndUlpOctetAreTheSameInAllSegmentsOfATaggedMessage() {
        List<Segment> segments = sendTagged(0xFFFF_FFFF_FFFF_0000L, Octets.pattern(10_000, 3));

        assertThat(segments).hasSize(7);
        assertThat(segments).extracting(Segment::stag).containsOnly(STAG);
        assertThat(segments).extracting(Segment::ulpControl).containsOnly(0x40);
    }

    @Test
    @Requirement({"DDP-4.3-02", "DDP-4.2-03"})
    void queueNumberMsnAndUlpOctetsAreTheSameInAllSegmentsOfAnUntaggedMessage() {
        byte[] message = Octets.pattern(14_820, 4);
        sender.beginUntagged(0x46, 0x11223344, 2, sourceOf(message), message.length);

        List<Segment> segments = upper.output();

        assertThat(segments).hasSize(10);
        assertThat(segments).extracting(Segment::qn).containsOnly(2);
        assertThat(segments).extracting(Segment::msn).containsOnly(1);
        assertThat(segments).extracting(Segment::ulpControl).containsOnly(0x46);
        assertThat(segments).extracting(Segment::ulpWord).containsOnly(0x11223344);
    }

    @Test
    @Requirement("DDP-4.3-03")
    void eachQueueNumberCountsItsMessagesFrom1() {
        List<Integer> numbers = new ArrayList<>();
        for (int qn : new int[] {0, 0, 1, 0, 2, 1}) {
            numbers.add(sender.beginUntagged(CONTROL, 0, qn, sourceOf(new byte[0]), 0));
            numbers.add(upper.output().getFirst().msn());
        }

        assertThat(numbers).containsExactly(1, 1, 2, 2, 1, 1, 3, 3, 1, 1, 2, 2);
    }

    @Test
    @Requirement("DDP-4.3-03")
    void theMsnAfterTheLargestIs0() {
        DdpSender late = new DdpSender(1, 0xFFFF_FFFE);
        SenderUpper lateUpper = new SenderUpper(wire, late);
        wire.attach(lateUpper);
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            late.beginUntagged(CONTROL, 0, 0, sourceOf(new byte[0]), 0);
            numbers.add(lateUpper.output().getFirst().msn());
        }

        assertThat(numbers).containsExactly(0xFFFF_FFFE, 0xFFFF_FFFF, 0, 1);
    }

    @Test
    @Requirement("DDP-3-01")
    void aChangedMulpduHoldsFromTheNextSegmentOn() {
        byte[] message = Octets.pattern(5000, 5);
        wire.room(1);
        sender.beginUntagged(CONTROL, 0, 0, sourceOf(message), message.length);

        wire.requestOutput();
        wire.output();
        wire.mulpdu(512);
        wire.output();
        wire.mulpdu(4000);
        List<Segment> segments = upper.output();

        assertThat(segments).extracting(Segment::length).containsExactly(1500, 512, 18 + 5000 - 1482 - 494);
        assertThat(payloadOf(segments)).isEqualTo(message);
    }

    @Test
    void aRefusedClaimLeavesTheMessageWhereItWas() {
        byte[] message = Octets.pattern(10_000, 6);
        wire.room(2);
        sender.beginUntagged(CONTROL, 0, 0, sourceOf(message), message.length);

        wire.requestOutput();
        wire.output();

        assertThat(wire.pending()).isEqualTo(2);
        assertThat(sender.isActive()).isTrue();
        assertThat(sender.sent()).isEqualTo(2964);
        assertThat(payloadOf(upper.output())).isEqualTo(message);
        assertThat(sender.isActive()).isFalse();
        assertThat(sender.segments()).isEqualTo(7);
    }

    @Test
    @Requirement({"DDP-5.3-01", "RDMAP-3.1-01"})
    void asLongAsAMessageIsOnItsWayNoOtherCanBegin() {
        wire.room(1);
        sender.beginUntagged(CONTROL, 0, 0, sourceOf(new byte[5000]), 5000);
        wire.requestOutput();
        wire.output();

        assertThatThrownBy(() -> sender.beginTagged(0x40, STAG, 0, sourceOf(new byte[1]), 1))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Requirement("DDP-5.2-02")
    void aMessageOf4GiBIsRefusedAndTakesNoMsn() {
        assertThatThrownBy(() -> sender.beginUntagged(CONTROL, 0, 0, sourceOf(new byte[0]), 1L << 32))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(sender.isActive()).isFalse();
        assertThat(sendUntagged(new byte[0]).getFirst().msn()).isEqualTo(1);
    }

    @Test
    @Requirement("DDP-5.2-01")
    void aMessageOf4GiBLessOneOctetGoesOutWhole() {
        long length = DdpSender.MAX_MESSAGE_LENGTH;
        long[] fetched = new long[1];
        PayloadSource counting = (at, target, targetOffset, octets) -> {
            assertThat(at).isEqualTo(fetched[0]);
            fetched[0] += octets;
        };
        LastSegment counter = new LastSegment(64_768);
        sender.beginUntagged(CONTROL, 0, 0, counting, length);

        counter.emitAll(sender);

        assertThat(fetched[0]).isEqualTo(length);
        assertThat(counter.lastSegments()).isEqualTo(1);
        assertThat(counter.endOfLast()).isEqualTo(length);
        assertThat(sender.segments()).isEqualTo((length + 64_749) / 64_750);
    }

    @Test
    void aSourceThatFailsSendsNothingOfThatPart() {
        byte[] message = Octets.pattern(4000, 7);
        boolean[] fail = new boolean[1];
        PayloadSource source = (at, target, targetOffset, length) -> {
            if (at >= 1482 && !fail[0]) {
                fail[0] = true;
                throw new RegionFault(null, "gone");
            }
            target.putBytes(targetOffset, message, (int) at, length);
        };
        sender.beginUntagged(CONTROL, 0, 0, source, message.length);

        assertThatThrownBy(upper::output).hasCauseInstanceOf(RegionFault.class);
        assertThat(sender.sent()).isEqualTo(1482);
        assertThat(wire.pending()).isEqualTo(1);

        assertThat(payloadOf(upper.output())).isEqualTo(message);
    }

    @Test
    void aMessageThatIsGivenUpMakesRoomForTheNext() {
        wire.room(1);
        sender.beginUntagged(CONTROL, 0, 0, sourceOf(new byte[5000]), 5000);
        wire.requestOutput();
        wire.output();

        sender.abandon();
        sender.beginUntagged(0x47, 0, 2, sourceOf(new byte[4]), 4);

        assertThat(upper.output().getLast().octets())
                .isEqualTo(Octets.hex("41 47 00000000 00000002 00000001 00000000 00000000"));
    }

    /** A lower layer that keeps only the end of each last segment. */
    private static final class LastSegment extends DiscardingLowerLayer {

        private int lastSegments;
        private long endOfLast;

        LastSegment(int mulpdu) {
            super(mulpdu);
        }

        void emitAll(DdpSender from) {
            try {
                assertThat(from.emit(this)).isTrue();
            } catch (RegionFault e) {
                throw new AssertionError(e);
            }
        }

        int lastSegments() {
            return lastSegments;
        }

        long endOfLast() {
            return endOfLast;
        }

        @Override
        protected void onCommit(WireBuffer buffer, int offset, int length) {
            if ((buffer.getUnsignedByte(offset) & DdpHeaderFlyweight.LAST_FLAG) != 0) {
                lastSegments++;
                endOfLast = (buffer.getInt(offset + 14) & 0xFFFF_FFFFL) + length - 18;
            }
        }
    }
}
