// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests the order in which this side's work starts and completes (RFC 5040 section 5.5). */
class OrderingTest {

    private static final int REMOTE = 0x0A0B0C0D;

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private final MemoryRegion region = stream.region(8192);

    @Test
    @Requirement({"RDMAP-5.5-13", "DDP-5.3-01"})
    void messagesLeaveInTheOrderPosted() {
        stream.wire().room(1);
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            stream.endpoint().send(1).with(region, 0, 1500).post();
            stream.endpoint().write(2).with(region, 0, 3000).remote(REMOTE, 0).post();
            stream.endpoint().read(3).with(region, 0, 10).remote(REMOTE, 0).post();
            stream.endpoint().send(4).solicited().post();
            stream.endpoint().send(5).invalidating(REMOTE).post();
            stream.endpoint().write(6).remote(REMOTE, 0).post();
            stream.endpoint().send(7).solicited().invalidating(REMOTE).post();
            expected.addAll(List.of(3, 3, 0, 0, 0, 1, 5, 4, 0, 6));
        }

        assertThat(stream.output()).extracting(Segment::opcode).containsExactlyElementsOf(expected);
    }

    @Test
    @Requirement({"RDMAP-5.5-14", "DDP-5.4-03"})
    void writesAndSendsCompleteWhenTheLowerLayerTookThemOverWhole() {
        stream.wire().holdTransfer(true).mulpdu(128);
        stream.endpoint().write(1).with(region, 0, 300).remote(REMOTE, 0).post();
        stream.endpoint().send(2).with(region, 0, 10).post();
        stream.wire().output();
        long endOfWrite = 3 * (6 + 14) + 300;
        assertThat(stream.completions().isEmpty()).isTrue();

        stream.wire().transfer(endOfWrite - 1);
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.wire().transfer(endOfWrite);
        assertThat(stream.completions().sendIds()).containsExactly(1L);
        stream.wire().transferAll();

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.SUCCESS);
        assertThat(stream.completions().notified()).isTrue();
    }

    @Test
    @Requirement({"RDMAP-5.5-14", "RDMAP-5.5-15"})
    void aMessageThatDidNotGoOutWholeDoesNotComplete() {
        stream.wire().room(2).mulpdu(128);
        stream.endpoint().write(1).with(region, 0, 300).remote(REMOTE, 0).post();

        stream.wire().output();
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.wire().output();

        assertThat(stream.completions().sendIds()).containsExactly(1L);
    }

    @Test
    @Requirement("RDMAP-5.5-15")
    void workBehindAReadCompletesAfterIt() {
        stream.endpoint().send(1).post();
        stream.endpoint().read(2).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.endpoint().write(3).remote(REMOTE, 0).post();
        stream.endpoint().send(4).post();
        stream.endpoint().read(5).with(region, 1, 1).remote(REMOTE, 0).post();
        assertThat(stream.output()).hasSize(5);
        assertThat(stream.completions().sendIds()).containsExactly(1L);

        stream.input(readResponse(region.stag(), 0, hex("01")));
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L, 3L, 4L);
        stream.input(readResponse(region.stag(), 1, hex("01")));

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    @Test
    @Requirement("RDMAP-5.5-15")
    void aReadThatIsAnsweredEarlyWaitsForTheSendBeforeIt() {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.endpoint().read(2).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.wire().output();

        stream.input(readResponse(region.stag(), 0, hex("01")));
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.wire().transferAll();

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
    }

    @Test
    @Requirement({"RDMAP-3.2-02"})
    void everyPostYieldsOneCompletion() {
        for (int i = 0; i < 100; i++) {
            stream.endpoint().send(i).with(region, i, 1).post();
        }

        stream.output();
        stream.wire().transferAll();
        stream.wire().over(true, "test");

        assertThat(stream.completions().sends()).hasSize(100);
        assertThat(stream.completions().sendIds()).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void unsignaledWorkCompletesSilently() {
        stream.endpoint().send(1).unsignaled().post();
        stream.endpoint().write(2).remote(REMOTE, 0).post();
        stream.endpoint()
                .read(3)
                .with(region, 0, 1)
                .remote(REMOTE, 0)
                .unsignaled()
                .post();
        stream.output();
        stream.input(readResponse(region.stag(), 0, hex("01")));

        assertThat(stream.completions().sendIds()).containsExactly(2L);
        assertThat(stream.endpoint().sendQueue().outstanding()).isZero();
    }

    @Test
    void queueReusesCompletedSlots() {
        try (LoneStream narrow = new LoneStream(EndpointOptions.defaults().queueDepth(3))) {
            for (int i = 0; i < 20; i++) {
                narrow.endpoint()
                        .send(2L * i)
                        .with(narrow.memory().regionWith(new byte[] {(byte) i}))
                        .post();
                narrow.endpoint().write(2L * i + 1).remote(REMOTE, i).post();
                List<Segment> segments = narrow.output();

                assertThat(segments.getFirst().payload()).isEqualTo(new byte[] {(byte) i});
                assertThat(segments.getFirst().msn()).isEqualTo(i + 1);
                assertThat(segments.getLast().to()).isEqualTo(i);
            }

            assertThat(narrow.completions().sendIds()).hasSize(40).isSorted();
        }
    }

    @Test
    @Requirement("DDP-3-02")
    void whatTheLowerLayerTookIsNotSegmentedAgainWhenTheMulpduShrinks() {
        stream.wire().mulpdu(1018).room(3);
        stream.endpoint()
                .send(1)
                .with(stream.memory().regionWith(pattern(5000, 1)))
                .post();
        stream.wire().output();

        stream.wire().mulpdu(518);
        List<Segment> segments = stream.output();

        assertThat(segments).extracting(Segment::length).containsExactly(1018, 1018, 1018, 518, 518, 518, 518);
        assertThat(join(segments.stream().map(Segment::payload).toArray(byte[][]::new)))
                .isEqualTo(pattern(5000, 1));
    }

    @Test
    @Requirement("RDMAP-5.5-02")
    void ownSendsDoNotWaitForThePeersReads() {
        MemoryRegion source = stream.region(3000);
        stream.wire().room(1);
        stream.input(readRequest(1, 1, 0, 3000, source.stag(), 0));
        stream.endpoint().send(1).post();

        assertThat(stream.output()).extracting(Segment::opcode).containsExactly(2, 2, 2, 3);
        assertThat(stream.completions().sendIds()).containsExactly(1L);
    }

    @Test
    @Requirement("RDMAP-5.5-01")
    void twoStreamsDoNotWaitForEachOther() {
        try (LoneStream other = new LoneStream(
                EndpointOptions.defaults().memory(stream.memory()).queuePair(2))) {
            stream.wire().room(0);
            stream.endpoint().send(1).post();
            stream.wire().output();

            other.endpoint().send(2).post();
            other.output();

            assertThat(stream.completions().isEmpty()).isTrue();
            assertThat(other.completions().sendIds()).containsExactly(2L);
        }
    }

    @Test
    void idleStreamSendsNothing() {
        stream.wire().requestOutput();

        assertThat(stream.output()).isEmpty();
        assertThat(stream.wire().outputEnded()).isFalse();
        assertThat(stream.wire().outputWanted()).isFalse();
    }
}
