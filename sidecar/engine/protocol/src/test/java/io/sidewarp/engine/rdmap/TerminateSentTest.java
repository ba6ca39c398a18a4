// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.TAGGED_LAST;
import static io.sidewarp.engine.testing.Ulpdus.TAGGED_MORE;
import static io.sidewarp.engine.testing.Ulpdus.UNTAGGED_LAST;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.tagged;
import static io.sidewarp.engine.testing.Ulpdus.terminate;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.engine.verbs.StreamError;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the Terminate that answers each error, with its bytes. */
class TerminateSentTest {

    private static final String HEADER = "41 47 00000000 00000002 00000001 00000000";
    private static final byte[] ONE = hex("01");
    private static final byte[] NOTHING = new byte[0];

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private final MemoryRegion region = stream.region(100);

    /** Segments that are wrong by themselves, with the error word that each gets. */
    static Stream<Arguments> wrongSegments() {
        return Stream.of(
                Arguments.of("untagged DV 0", "12 06", untagged(0x40, 0x43, 0, 0, 1, 0, ONE)),
                Arguments.of("untagged DV 2", "12 06", untagged(0x42, 0x43, 0, 0, 1, 0, ONE)),
                Arguments.of("untagged DV 3", "12 06", untagged(0x43, 0x43, 0, 0, 1, 0, ONE)),
                Arguments.of("tagged DV 0", "11 04", tagged(0xC0, 0x40, 1, 0, ONE)),
                Arguments.of("tagged DV 3", "11 04", tagged(0xC3, 0x40, 1, 0, ONE)),
                Arguments.of("QN 3", "12 01", untagged(UNTAGGED_LAST, 0x43, 0, 3, 1, 0, ONE)),
                Arguments.of("QN 5", "12 01", untagged(UNTAGGED_LAST, 0x43, 0, 5, 1, 0, ONE)),
                Arguments.of("QN 2^32-1", "12 01", untagged(UNTAGGED_LAST, 0x43, 0, -1, 1, 0, ONE)),
                Arguments.of("Send to QN 1", "12 01", untagged(UNTAGGED_LAST, 0x43, 0, 1, 1, 0, ONE)),
                Arguments.of("Send to QN 2", "12 01", untagged(UNTAGGED_LAST, 0x43, 0, 2, 1, 0, ONE)),
                Arguments.of("Read Request to QN 0", "12 01", untagged(UNTAGGED_LAST, 0x41, 0, 0, 1, 0, new byte[28])),
                Arguments.of("Terminate to QN 0", "12 01", untagged(UNTAGGED_LAST, 0x47, 0, 0, 1, 0, new byte[4])),
                Arguments.of("no receive", "12 02", send(1, ONE)),
                Arguments.of("MSN 0", "12 03", send(0, ONE)),
                Arguments.of("MSN 2", "12 03", send(2, ONE)),
                Arguments.of("Read Request with MSN 2", "12 03", readRequest(2, 1, 0, 0, 0, 0)),
                Arguments.of("Terminate with MSN 2", "12 03", untagged(UNTAGGED_LAST, 0x47, 0, 2, 2, 0, new byte[4])),
                Arguments.of("Read Request MO", "12 04", untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 29, ONE)),
                Arguments.of("Read Request too long", "12 05", untagged(UNTAGGED_LAST, 0x41, 0, 1, 1, 0, new byte[29])),
                Arguments.of("Terminate too long", "12 05", terminate(new byte[1000])),
                Arguments.of("unknown STag", "11 00", write(0x01020304, 0, ONE)),
                Arguments.of("RV 0 in a Send", "02 05", untagged(UNTAGGED_LAST, 0x03, 0, 0, 1, 0, ONE)),
                Arguments.of("RV 2 in a Send", "02 05", untagged(UNTAGGED_LAST, 0x83, 0, 0, 1, 0, ONE)),
                Arguments.of("RV 3 in a Send", "02 05", untagged(UNTAGGED_LAST, 0xC3, 0, 0, 1, 0, NOTHING)),
                Arguments.of("RV 0 in a Write", "02 05", tagged(TAGGED_LAST, 0x00, 1, 0, ONE)),
                Arguments.of("RV 3 in a Write", "02 05", tagged(TAGGED_MORE, 0xC0, 1, 0, NOTHING)),
                Arguments.of("RV 3 in a Terminate", "02 05", untagged(UNTAGGED_LAST, 0xC7, 0, 2, 1, 0, new byte[4])),
                Arguments.of("opcode 0x8 tagged", "02 06", tagged(TAGGED_LAST, 0x48, 1, 0, ONE)),
                Arguments.of("opcode 0xA tagged", "02 06", tagged(TAGGED_LAST, 0x4A, 1, 0, ONE)),
                Arguments.of("opcode 0xC", "02 06", untagged(UNTAGGED_LAST, 0x4C, 0, 0, 1, 0, ONE)),
                Arguments.of("opcode 0xF", "02 06", untagged(UNTAGGED_LAST, 0x4F, 0, 1, 1, 0, NOTHING)),
                Arguments.of("opcode 0xF tagged", "02 06", tagged(TAGGED_LAST, 0x4F, 1, 0, ONE)),
                Arguments.of("Write untagged", "02 06", untagged(UNTAGGED_LAST, 0x40, 0, 0, 1, 0, ONE)),
                Arguments.of("Read Response untagged", "02 06", untagged(UNTAGGED_LAST, 0x42, 0, 0, 1, 0, ONE)),
                Arguments.of("Read Request tagged", "02 06", tagged(TAGGED_LAST, 0x41, 1, 0, ONE)),
                Arguments.of("Send tagged", "02 06", tagged(TAGGED_LAST, 0x43, 1, 0, ONE)),
                Arguments.of("Send with Invalidate tagged", "02 06", tagged(TAGGED_LAST, 0x44, 1, 0, NOTHING)),
                Arguments.of("Terminate tagged", "02 06", tagged(TAGGED_LAST, 0x47, 1, 0, ONE)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("wrongSegments")
    @Requirement({
        "RDMAP-4.8-01",
        "RDMAP-4.8-03",
        "RDMAP-4.8-06",
        "RDMAP-4.8-07",
        "RDMAP-4.8-08",
        "RDMAP-4.8-09",
        "RDMAP-4.8-10",
        "RDMAP-3.1-02",
        "RDMAP-6.2.1-01",
        "RDMAP-7.1-03",
        "RDMAP-7.2-01",
        "RDMAP-7.2-02",
        "RDMAP-7.2-03",
        "DDP-4.1-06",
        "DDP-7.1-01"
    })
    void aWrongSegmentIsAnsweredWithItsErrorLengthAndHeader(String name, String error, byte[] segment) {
        stream.input(segment);

        byte[] length = {(byte) (segment.length >> 8), (byte) segment.length};
        byte[] header = Arrays.copyOf(segment, new Segment(segment).headerLength());
        assertThat(stream.onlyOutput().octets()).isEqualTo(join(hex(HEADER, error, "C0 00"), length, header));
        assertThat(stream.wire().closing()).isTrue();
        assertThat(TestMemory.get(region)).containsOnly(0);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("wrongSegments")
    @Requirement({"RDMAP-7.1-01", "RDMAP-7-01", "RDMAP-3.2-04", "DDP-6.2.2-01"})
    void theErrorIsReportedHereToo(String name, String error, byte[] segment) {
        byte[] word = hex(error);

        stream.input(segment);

        StreamError found = stream.stream().error();
        assertThat(found).isNotNull();
        assertThat(found.layer()).isEqualTo(word[0] >> 4);
        assertThat(found.type()).isEqualTo(word[0] & 0x0F);
        assertThat(found.code()).isEqualTo(word[1] & 0xFF);
        assertThat(found.remote()).isFalse();
        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED);
        assertThat(stream.events().errors()).containsExactly(found);
    }

    @Test
    @Requirement({"DDP-7.1-03", "RDMAP-4.8-09"})
    void aMessageOffsetOutsideOfTheReceiveIsReported() {
        stream.endpoint().receive(1).with(region).post();
        byte[] segment = untagged(UNTAGGED_LAST, 0x43, 0, 0, 1, 0xFFFF_FFF0L, pattern(100, 1));

        stream.input(segment);

        assertThat(stream.onlyOutput().payload()).isEqualTo(join(hex("12 04 C0 00 0076"), Arrays.copyOf(segment, 18)));
    }

    @Test
    @Requirement({"DDP-7.1-07", "RDMAP-4.8-10"})
    void aWriteOutsideOfTheRegionIsReported() {
        byte[] segment = write(region.stag(), 95, pattern(6, 1));

        stream.input(segment);

        assertThat(stream.onlyOutput().payload()).isEqualTo(join(hex("11 01 C0 00 0014"), Arrays.copyOf(segment, 14)));
    }

    @Test
    @Requirement({"DDP-4.4-01", "RDMAP-4.8-07"})
    void aSegmentWithoutCompleteHeaderIsReportedWithoutHeader() {
        for (byte[] segment : new byte[][] {NOTHING, hex("41"), hex("C1 40"), Arrays.copyOf(send(1, ONE), 17)}) {
            try (LoneStream fresh = new LoneStream()) {
                fresh.input(segment);

                assertThat(fresh.onlyOutput().octets()).isEqualTo(hex(HEADER, "10 00 00 00"));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(LlpError.class)
    @Requirement({"RDMAP-4.8-03", "RDMAP-4.8-07", "RDMAP-6.2.1-01", "RDMAP-7.1-02", "DDP-7-01", "DDP-6.2.2-01"})
    void anErrorOfTheLowerLayerIsReportedWithoutHeaders(LlpError error) {
        stream.wire().error(error);

        byte[] octets = stream.onlyOutput().octets();
        assertThat(octets).hasSize(22).startsWith(hex(HEADER, "20")).endsWith(hex("00 00"));
        assertThat(octets[19]).isEqualTo((byte) error.code());
        assertThat(stream.stream().error().layer()).isEqualTo(2);
        assertThat(stream.stream().error().code()).isEqualTo(error.code());
    }

    @Test
    @Requirement({"RDMAP-4.8-04", "RDMAP-7.1-02"})
    void aLocalCatastropheIsReportedWithoutHeaders() {
        stream.stream().fail(RdmapError.LOCAL_CATASTROPHIC);

        assertThat(stream.onlyOutput().octets()).isEqualTo(hex(HEADER, "00 00 00 00"));
    }

    @Test
    @Requirement({"RDMAP-7.1-05", "DDP-7.1-12"})
    void theFirstOfSeveralErrorsIsTheOneReported() {
        stream.wire().room(0);
        byte[] first = write(0x01020304, 7, ONE);

        stream.input(first, send(9, ONE), untagged(UNTAGGED_LAST, 0x4F, 0, 0, 1, 0, ONE));
        stream.wire().output();
        stream.wire().error(LlpError.CRC_MISMATCH);
        stream.stream().fail(RdmapError.CATASTROPHIC_GLOBAL);
        stream.wire().room(Integer.MAX_VALUE);

        assertThat(stream.onlyOutput().payload()).isEqualTo(join(hex("11 00 C0 00 000F"), Arrays.copyOf(first, 14)));
        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED);
    }

    @Test
    @Requirement({"RDMAP-5.4-04", "RDMAP-5.4-03"})
    void theTerminateIsTheLastMessage() {
        for (int i = 0; i < 100; i++) {
            stream.endpoint().send(i).with(region, 0, 100).post();
        }
        stream.input(readRequest(1, 1, 0, 50, region.stag(), 0), write(0x01020304, 0, ONE));
        stream.endpoint().send(100).post();

        assertThat(stream.onlyOutput().opcode()).isEqualTo(RdmapControl.TERMINATE);
        assertThat(stream.wire().outputEnded()).isTrue();
        stream.endpoint().send(101).post();
        stream.input(readRequest(2, 1, 0, 50, region.stag(), 0));

        assertThat(stream.output()).isEmpty();
        assertThat(stream.completions().sends()).hasSize(102);
        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.FLUSHED);
    }

    @Test
    @Requirement("RDMAP-5.4-04")
    void aMessageThatWasOnItsWayIsCutOffByTheTerminate() {
        stream.wire().room(2);
        stream.endpoint().write(1).with(stream.region(8000)).remote(1, 0).post();
        stream.wire().output();

        stream.input(send(5, ONE));

        assertThat(stream.output()).extracting(Segment::opcode).containsExactly(0, 0, 7);
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void aTerminateWaitsForRoom() {
        stream.wire().room(0);
        stream.input(send(5, ONE));
        stream.wire().output();
        assertThat(stream.wire().closing()).isFalse();

        stream.wire().room(1);

        assertThat(stream.onlyOutput().opcode()).isEqualTo(RdmapControl.TERMINATE);
        assertThat(stream.wire().closing()).isTrue();
    }

    @Test
    @Requirement({"RDMAP-6.2.1-04", "DDP-6.2.2-03", "DDP-6.2.2-04"})
    void theStreamIsClosedInOrderAndOnlyBehindTheTerminate() {
        stream.input(send(5, ONE));
        assertThat(stream.wire().closing()).isFalse();

        stream.output();

        assertThat(stream.wire().closing()).isTrue();
        assertThat(stream.wire().aborted()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement({"RDMAP-6.2.1-03", "RDMAP-7.1-05"})
    void aPeerThatIsGoneBehindItChangesNothing(boolean graceful) {
        stream.endpoint().receive(1).with(region).post();
        stream.input(write(0x01020304, 0, ONE));
        StreamError first = stream.stream().error();
        stream.output();

        stream.wire().over(graceful, "gone");

        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED, StreamState.CLOSED);
        assertThat(stream.stream().error()).isEqualTo(first);
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    @Requirement("RDMAP-6.2.1-01")
    void withoutPermissionForOutputTheStreamIsClosedWithoutTerminate() {
        stream.wire().outputPermitted(false);

        stream.input(send(5, ONE));

        assertThat(stream.output()).isEmpty();
        assertThat(stream.wire().closing()).isTrue();
        assertThat(stream.stream().error()).isNotNull();
    }

    @Test
    void anErrorBehindTheEndOfTheOwnDirectionClosesWithoutTerminate() {
        stream.stream().close();
        stream.output();
        assertThat(stream.wire().outputEnded()).isTrue();

        stream.input(send(5, ONE));

        assertThat(stream.output()).isEmpty();
        assertThat(stream.wire().closing()).isTrue();
        assertThat(stream.stream().state()).isEqualTo(StreamState.TERMINATED);
    }

    @Test
    @Requirement({"RDMAP-5.4-03", "DDP-6.2.2-02"})
    void outstandingWorkIsFlushedOnceInOrderAndBeforeTheStateChanges() {
        stream.endpoint().receive(1).with(region).post();
        stream.endpoint().receive(2).with(region).post();
        stream.endpoint().read(3).with(region, 0, 1).remote(1, 0).post();
        stream.endpoint().send(4).post();
        stream.wire().output();
        stream.wire().room(0);
        stream.endpoint().send(5).unsignaled().post();
        stream.endpoint().write(6).remote(1, 0).post();
        int[] completionsAtChange = new int[1];
        stream.events()
                .onEachChange(() ->
                        completionsAtChange[0] = stream.completions().sends().size()
                                + stream.completions().receives().size());

        stream.input(write(0x01020304, 0, ONE));

        assertThat(stream.completions().sendIds()).containsExactly(3L, 4L, 5L, 6L);
        assertThat(stream.completions().receiveIds()).containsExactly(1L, 2L);
        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.FLUSHED);
        assertThat(stream.completions().receiveStatuses()).containsOnly(CqeStatus.FLUSHED);
        assertThat(stream.completions().sends())
                .extracting("error")
                .containsOnly(stream.stream().error());
        assertThat(completionsAtChange[0]).isEqualTo(6);
        assertThat(stream.completions().notified()).isTrue();
    }

    @Test
    void whatWasTakenOverBeforeTheErrorCompletesWithSuccess() {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.wire().output();
        stream.endpoint().send(2).post();
        long afterFirst = stream.wire().committedPosition();
        stream.wire().output();
        stream.wire().transfer(afterFirst);

        stream.input(write(0x01020304, 0, ONE));

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS, CqeStatus.FLUSHED);
    }

    @Test
    void workPostedAfterTheEndIsFlushedAtOnce() {
        stream.input(write(0x01020304, 0, ONE));
        stream.endpoint().send(1).post();
        stream.endpoint().receive(2).with(region).post();
        stream.output();
        stream.wire().over(true, "closed");
        stream.endpoint().write(3).remote(1, 0).post();
        stream.endpoint().receive(4).with(region).post();

        assertThat(stream.completions().sendIds()).containsExactly(1L, 3L);
        assertThat(stream.completions().receiveIds()).containsExactly(2L, 4L);
        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.FLUSHED);
        assertThat(stream.completions().notified()).isTrue();
    }
}
