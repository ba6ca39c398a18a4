// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Ulpdus.atomicResponse;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.readResponseMore;
import static io.sidewarp.engine.testing.Ulpdus.sendInvalidate;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests work that has no message, and fences. */
class LocalWorkTest {

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private final MemoryRegion region = stream.endpoint().invalidatableRegion(64);

    private List<Integer> opcodesOut() {
        return stream.output().stream().map(Segment::opcode).toList();
    }

    @Test
    void anInvalidatedRegionIsOutOfUseAsSoonAsTheWorkIsComplete() {
        stream.endpoint().invalidate(1, region).post();

        assertThat(stream.completions().sendIds()).containsExactly(1L);
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
        assertThat(region.state()).isEqualTo(RegionState.INVALIDATED);
        stream.input(write(region.stag(), 0, hex("01")));
        assertThat(stream.onlyOutput().payload()).startsWith(hex("11 00 C0 00"));
        assertThat(TestMemory.get(region)).containsOnly(0);
    }

    @Test
    void anEnabledRegionIsReachableByItsNewStagOnly() {
        int before = region.stag();
        int key = before + 1 & 0xFF;
        stream.endpoint().invalidate(1, region).post();
        stream.endpoint().enable(2, region, key).post();

        assertThat(region.stag()).isEqualTo(before & ~0xFF | key).isEqualTo(region.stagWithKey(key));
        stream.input(write(region.stag(), 0, hex("A1")));
        assertThat(TestMemory.get(region, 0, 1)).isEqualTo(hex("A1"));
        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);

        stream.input(write(before, 1, hex("B1")));
        assertThat(stream.onlyOutput().payload()).startsWith(hex("11 00 C0 00"));
        assertThat(TestMemory.get(region, 1, 1)).isEqualTo(hex("00"));
    }

    @Test
    void aRegionThatThePeerInvalidatedIsEnabledAgainAndAgain() {
        for (int i = 1; i <= 600; i++) {
            stream.endpoint().receive(i).post();
            stream.input(sendInvalidate(i, region.stag()));
            assertThat(region.state()).isEqualTo(RegionState.INVALIDATED);

            stream.endpoint().enable(i, region, i & 0xFF).post();

            assertThat(region.isValid()).isTrue();
            assertThat(region.stag() & 0xFF).isEqualTo(i & 0xFF);
        }
        assertThat(stream.completions().sendStatuses()).hasSize(600).containsOnly(CqeStatus.SUCCESS);
    }

    @Test
    void aRegionIsExpectedAsLongAsWorkThatEnablesItIsPosted() {
        MemoryRegion sink = stream.region(8);
        stream.endpoint().read(1).with(sink).remote(5, 0).post();
        stream.endpoint().enable(2, region, 1).fencedLocally().post();
        stream.endpoint().invalidate(3, region).post();
        stream.endpoint().read(4).with(sink).remote(5, 0).post();
        stream.endpoint().enable(5, region, 2).fencedLocally().post();
        stream.output();

        stream.input(readResponse(sink.stag(), 0, new byte[8]));
        stream.output();

        assertThat(region.state()).isEqualTo(RegionState.INVALIDATED);
        assertThat(region.isValidOrExpected()).isTrue();
        stream.input(readResponse(sink.stag(), 0, new byte[8]));
        stream.output();
        assertThat(region.isValid()).isTrue();
        assertThat(region.stag() & 0xFF).isEqualTo(2);
        stream.endpoint().invalidate(6, region).post();
        assertThat(region.isValidOrExpected()).isFalse();
    }

    @Test
    void aRegionIsNotExpectedOfWorkThatWasFlushed() {
        stream.wire().room(0);
        stream.endpoint().send(1).post();
        stream.endpoint().enable(2, region, 9).post();
        region.invalidate();
        assertThat(region.isValidOrExpected()).isTrue();

        stream.wire().over(false, "reset");

        assertThat(region.isValidOrExpected()).isFalse();
    }

    @Test
    void localWorkKeepsItsPlaceBehindWhatWasPostedBefore() {
        stream.wire().room(0).holdTransfer(true);
        stream.endpoint().write(1).with(stream.region(8)).remote(1, 0).post();
        stream.endpoint().invalidate(2, region).post();
        stream.endpoint().send(3).post();
        stream.wire().output();
        assertThat(region.isValid()).isTrue();

        stream.wire().room(1);
        stream.wire().output();
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.wire().room(Integer.MAX_VALUE);
        stream.wire().output();
        assertThat(region.isValid()).isFalse();
        stream.wire().transferAll();

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L, 3L);
        assertThat(stream.wire().takeAll()).extracting(Segment::opcode).containsExactly(0, 3);
    }

    @Test
    void invalidatingTwiceIsNoErrorSinceThePeerMayBeFirst() {
        stream.endpoint().invalidate(1, region).post();
        stream.endpoint().invalidate(2, region).post();

        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.SUCCESS);
    }

    @Test
    void aRegionThatWasGivenBackEndsTheStream() {
        stream.memory().deregister(region);

        stream.endpoint().enable(1, region, 1).post();

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.LOCAL_PROTECTION_ERROR);
        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("00 00 00 00"));
    }

    @Test
    void aReadFenceHoldsLocalWorkUntilReadsAreAnswered() {
        MemoryRegion sink = stream.region(8);
        stream.endpoint().read(1).with(sink).remote(5, 0).post();
        stream.endpoint().invalidate(2, region).fenced().post();
        assertThat(opcodesOut()).containsExactly(1);
        assertThat(region.isValid()).isTrue();

        stream.input(readResponse(sink.stag(), 0, new byte[8]));
        stream.output();

        assertThat(region.isValid()).isFalse();
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
    }

    @Test
    void localInvalidateWaitsForAnOutstandingReadIntoItsRegion() {
        MemoryRegion sink = stream.endpoint().sinkRegion(64);
        int stag = sink.stag();
        stream.endpoint().read(1).with(sink).remote(5, 0).post();
        stream.endpoint().invalidate(2, sink).post();
        stream.endpoint().send(3).post();
        assertThat(opcodesOut()).containsExactly(1);
        assertThat(sink.isValid()).isTrue();

        stream.input(readResponseMore(stag, 0, filled(40)));
        assertThat(opcodesOut()).isEmpty();
        assertThat(sink.isValid()).isTrue();
        stream.input(readResponse(stag, 40, filled(24)));

        assertThat(opcodesOut()).containsExactly(3);
        assertThat(sink.state()).isEqualTo(RegionState.INVALIDATED);
        assertThat(TestMemory.get(sink)).isEqualTo(filled(64));
        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L, 3L);
        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.SUCCESS);
    }

    @Test
    void enableWaitsForAnOutstandingReadIntoItsRegion() {
        MemoryRegion sink = stream.endpoint().sinkRegion(64);
        int stag = sink.stag();
        stream.endpoint().read(1).with(sink).remote(5, 0).post();
        stream.endpoint().enable(2, sink, stag + 1 & 0xFF).post();
        stream.output();

        assertThat(sink.stag()).isEqualTo(stag);
        stream.input(readResponse(stag, 0, filled(64)));
        stream.output();

        assertThat(sink.stag()).isEqualTo(sink.stagWithKey(stag + 1 & 0xFF));
        assertThat(TestMemory.get(sink)).isEqualTo(filled(64));
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
    }

    @Test
    void localInvalidateDoesNotWaitForReadsIntoOtherRegions() {
        stream.endpoint().read(1).with(stream.region(8)).remote(5, 0).post();
        stream.endpoint().invalidate(2, region).post();
        stream.output();

        assertThat(region.state()).isEqualTo(RegionState.INVALIDATED);
    }

    private static byte[] filled(int length) {
        byte[] octets = new byte[length];
        Arrays.fill(octets, (byte) 0xA5);
        return octets;
    }

    @Test
    void aLocalFenceWaitsForTheCompletionOfAllWorkBeforeIt() {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.endpoint().send(2).fencedLocally().post();
        assertThat(opcodesOut()).containsExactly(3);
        assertThat(opcodesOut()).isEmpty();

        stream.wire().transferAll();
        assertThat(stream.completions().sendIds()).containsExactly(1L);
        assertThat(opcodesOut()).containsExactly(3);
        stream.endpoint().fetchAdd(3, 1).remote(1, 0).post();
        stream.endpoint().invalidate(4, region).fencedLocally().post();
        stream.endpoint().send(5).post();
        stream.wire().holdTransfer(false);
        assertThat(opcodesOut()).containsExactly(0xA);
        assertThat(region.isValid()).isTrue();

        stream.input(atomicResponse(1, 1, 0));

        assertThat(opcodesOut()).containsExactly(3);
        assertThat(region.isValid()).isFalse();
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    @Test
    void aResponderThatMayNotSendYetCarriesOutLocalWork() {
        stream.wire().outputPermitted(false);

        stream.endpoint().enable(1, region, 9).post();

        assertThat(stream.completions().sendIds()).containsExactly(1L);
    }

    @Test
    void localWorkThatIsLeftIsFlushed() {
        stream.wire().room(0);
        stream.endpoint().send(1).post();
        stream.endpoint().enable(2, region, 9).post();
        stream.wire().over(false, "reset");

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED, CqeStatus.FLUSHED);
    }
}
