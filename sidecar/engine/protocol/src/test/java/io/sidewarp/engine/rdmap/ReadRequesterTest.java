// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.readResponseMore;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests RDMA Reads of this side. */
class ReadRequesterTest {

    private static final byte[] NOTHING = new byte[0];
    private static final int REMOTE = 0x0A0B0C0D;
    private static final int ORD = 2;

    @AutoClose
    private final LoneStream stream = new LoneStream(EndpointOptions.defaults().reads(4, ORD));

    private final MemoryRegion sink = stream.region(4096);

    private void read(long id, long offset, long length) {
        stream.endpoint().read(id).with(sink, offset, length).remote(REMOTE, 0).post();
    }

    private List<Integer> opcodesOut() {
        return stream.output().stream().map(Segment::opcode).toList();
    }

    @Test
    @Requirement({"RDMAP-5.2-01", "RDMAP-5.2.2-02", "RDMAP-5.5-21"})
    void aReadIsOneRequestAndCompletesWithTheLastSegmentOfItsResponse() {
        byte[] data = pattern(1000, 1);
        read(1, 100, 1000);
        assertThat(opcodesOut()).containsExactly(RdmapControl.RDMA_READ_REQUEST);

        stream.input(readResponseMore(sink.stag(), 100, Arrays.copyOf(data, 600)));
        stream.input(readResponse(sink.stag(), 700, Arrays.copyOfRange(data, 600, 1000)));

        assertThat(stream.completions().sends()).hasSize(1);
        assertThat(stream.completions().sends().getFirst().length()).isEqualTo(1000);
        assertThat(stream.completions().sends().getFirst().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(TestMemory.get(sink, 100, 1000)).isEqualTo(data);
        assertThat(stream.completions().notified()).isTrue();
        assertThat(stream.output()).isEmpty();
    }

    @Test
    @Requirement("RDMAP-5.5-19")
    void aReadDoesNotCompleteBeforeTheLastSegmentEvenIfAllOctetsAreThere() {
        read(1, 0, 10);
        stream.output();

        stream.input(readResponseMore(sink.stag(), 0, pattern(10, 1)));
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.input(readResponse(sink.stag(), 10, NOTHING));

        assertThat(stream.completions().sendIds()).containsExactly(1L);
    }

    @Test
    @Requirement("RDMAP-5.5-19")
    void aReadDoesNotCompleteWhenItsRequestWasTakenOver() {
        read(1, 0, 10);

        stream.output();
        stream.wire().transferAll();

        assertThat(stream.completions().isEmpty()).isTrue();
    }

    @Test
    @Requirement("RDMAP-5.2.1-06")
    void aReadOfNothingCompletesWithAnEmptyResponseWhateverItsStag() {
        read(1, 50, 0);
        assertThat(ByteBuffer.wrap(stream.onlyOutput().payload()).getInt(12)).isZero();

        stream.input(readResponse(0, 0, NOTHING));

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1L << 31, (1L << 32) - 1})
    @Requirement("RDMAP-4.4-04")
    void theSizeOfARequestHas32Bits(long size) {
        read(1, 0, size);

        assertThat(ByteBuffer.wrap(stream.onlyOutput().payload()).getInt(12)).isEqualTo((int) size);
    }

    @Test
    @Requirement({"RDMAP-6.1-02", "RDMAP-6.1-03", "RDMAP-8.1.1-11"})
    void noMoreReadsThanOrdAreOutstanding() {
        for (int i = 0; i < 10; i++) {
            read(i, i * 10L, 10);
        }

        assertThat(opcodesOut()).hasSize(ORD);
        for (int i = 0; i < 10; i++) {
            stream.input(readResponse(sink.stag(), i * 10L, pattern(10, i)));
            assertThat(opcodesOut()).hasSize(i < 8 ? 1 : 0);
        }

        assertThat(stream.completions().sendIds()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    }

    @Test
    @Requirement({"RDMAP-5.5-13", "RDMAP-6.1-03"})
    void workBehindAReadThatWaitsDoesNotOvertakeIt() {
        read(1, 0, 1);
        read(2, 1, 1);
        read(3, 2, 1);
        stream.endpoint().send(4).post();

        assertThat(opcodesOut()).containsExactly(1, 1);
        stream.input(readResponse(sink.stag(), 0, hex("01")));

        assertThat(opcodesOut()).containsExactly(1, 3);
    }

    @Test
    @Requirement({"RDMAP-5.5-06", "RDMAP-5.5-11"})
    void readsCompleteInTheOrderPostedWithTheirDataInPlace() {
        read(1, 0, 3);
        read(2, 10, 2);
        stream.output();
        int[] seen = new int[1];
        stream.completions().onEachCompletion(() -> {
            seen[0]++;
            assertThat(TestMemory.get(sink, 0, 3)).isEqualTo(hex("010203"));
            assertThat(TestMemory.get(sink, 10, 2)).isEqualTo(seen[0] == 1 ? hex("0000") : hex("0405"));
        });

        stream.input(readResponse(sink.stag(), 0, hex("010203")), readResponse(sink.stag(), 10, hex("0405")));

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
        assertThat(seen[0]).isEqualTo(2);
    }

    @Test
    void aWriteOfThePeerMayComeBetweenSegmentsOfAResponse() {
        MemoryRegion other = stream.region(8);
        read(1, 0, 4);
        stream.output();

        stream.input(
                readResponseMore(sink.stag(), 0, hex("0102")),
                write(other.stag(), 0, hex("AA")),
                readResponse(sink.stag(), 2, hex("0304")));

        assertThat(TestMemory.get(sink, 0, 4)).isEqualTo(hex("01020304"));
        assertThat(stream.completions().sendIds()).containsExactly(1L);
    }

    @Test
    void aSinkNeedsTheRightOfLocalWritesOnly() {
        MemoryRegion own = stream.memory().region(16, AccessRight.LOCAL_WRITE);
        stream.endpoint().read(1).with(own).remote(REMOTE, 0).post();
        stream.output();

        stream.input(readResponse(own.stag(), 0, pattern(16, 1)));

        assertThat(TestMemory.get(own)).isEqualTo(pattern(16, 1));
    }

    @ParameterizedTest(name = "{0}")
    @Requirement("RDMAP-5.2.2-03")
    @CsvSource({
        "wrong STag, 1, 0, 10, true, 11 00",
        "offset too small, 0, -1, 10, true, 11 01",
        "offset too large, 0, 1, 10, true, 11 01",
        "too long, 0, 0, 11, true, 11 01",
        "too long in the first of several segments, 0, 0, 11, false, 11 01",
        "too short, 0, 0, 9, true, 11 01",
        "empty, 0, 0, 0, true, 11 01"
    })
    void aResponseThatIsNotTheOneAskedForIsRefused(
            String name, int stagChange, long toChange, int length, boolean last, String error) {
        read(1, 1000, 10);
        stream.output();
        byte[] payload = pattern(length, 1);
        int stag = sink.stag() + stagChange;

        stream.input(
                last ? readResponse(stag, 1000 + toChange, payload) : readResponseMore(stag, 1000 + toChange, payload));

        assertThat(stream.onlyOutput().payload()).startsWith(hex(error, "C0 00"));
        assertThat(TestMemory.get(sink)).containsOnly(0);
        assertThat(stream.completions().sendStatuses())
                .doesNotContain(CqeStatus.SUCCESS)
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5})
    @Requirement({"RDMAP-5.2.2-03", "RDMAP-7.2-02"})
    void aResponseThatNobodyAskedForIsAnUnexpectedOpcode(int length) {
        stream.input(readResponse(sink.stag(), 0, pattern(length, 1)));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 06 C0 00"));
        assertThat(TestMemory.get(sink)).containsOnly(0);
    }

    @Test
    void aSecondResponseToTheSameRequestIsUnexpected() {
        read(1, 0, 1);
        stream.output();

        stream.input(readResponse(sink.stag(), 0, hex("01")), readResponse(sink.stag(), 0, hex("02")));

        assertThat(stream.completions().sends()).extracting(Completion::status).containsExactly(CqeStatus.SUCCESS);
        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 06 C0 00"));
        assertThat(TestMemory.get(sink, 0, 1)).isEqualTo(hex("01"));
    }

    @Test
    void responsesInAnotherOrderThanTheRequestsAreRefused() {
        read(1, 0, 1);
        read(2, 1, 1);
        stream.output();

        stream.input(readResponse(sink.stag(), 1, hex("02")));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("11 01 C0 00"));
    }

    @Test
    @Requirement("RDMAP-B-02")
    void fencedWorkWaitsForTheReadsBeforeIt() {
        read(1, 0, 1);
        read(2, 1, 1);
        stream.endpoint().write(3).with(sink, 0, 1).remote(REMOTE, 0).fenced().post();
        stream.endpoint().send(4).post();
        assertThat(opcodesOut()).containsExactly(1, 1);

        stream.input(readResponse(sink.stag(), 0, hex("01")));
        assertThat(opcodesOut()).isEmpty();
        stream.input(readResponse(sink.stag(), 1, hex("02")));

        assertThat(opcodesOut()).containsExactly(0, 3);
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void aFenceWithoutReadsHoldsNothingBack() {
        stream.endpoint().send(1).post();
        stream.endpoint().write(2).remote(REMOTE, 0).fenced().post();

        assertThat(opcodesOut()).containsExactly(3, 0);
    }

    @Test
    void aFencedReadWaitsToo() {
        read(1, 0, 1);
        stream.endpoint().read(2).with(sink, 1, 1).remote(REMOTE, 0).fenced().post();
        assertThat(opcodesOut()).containsExactly(1);

        stream.input(readResponse(sink.stag(), 0, hex("01")));

        assertThat(opcodesOut()).containsExactly(1);
    }
}
