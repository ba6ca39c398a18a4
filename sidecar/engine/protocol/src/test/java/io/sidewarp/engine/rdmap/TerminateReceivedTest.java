// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Ulpdus.UNTAGGED_LAST;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.tagged;
import static io.sidewarp.engine.testing.Ulpdus.terminate;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.StreamError;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Terminates from the peer: the reported error, the blamed work requests, and the state of the stream. */
class TerminateReceivedTest {

    private static final int REMOTE = 0x0A0B0C0D;
    private static final byte[] ONE = hex("01");

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private final MemoryRegion region = stream.region(8192);

    /** Returns a Terminate that carries the header of a segment from this side. */
    private static byte[] refusing(String error, Segment segment) {
        return terminate(join(hex(error, "C0 00"), length(segment), segment.header()));
    }

    private static byte[] length(Segment segment) {
        return new byte[] {(byte) (segment.length() >> 8), (byte) segment.length()};
    }

    private List<CqeStatus> sendStatuses() {
        return stream.completions().sendStatuses();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "11 00 00 00, 1, 1, 0, Invalid STag",
        "12 05 00 00, 1, 2, 5, DDP Message too long for available buffer",
        "20 02 00 00, 2, 0, 2, MPA CRC error",
        // RNICs report MPA errors with error type 3.
        "23 02 00 00, 2, 3, 2, MPA CRC error",
        "23 07 00 00, 2, 3, 7, No matching RTR option",
        "23 08 00 00, 2, 3, 8, Unknown error",
        "21 02 00 00, 2, 1, 2, Unknown error",
        "13 02 00 00, 1, 3, 2, Unknown error",
        "02 07 00 00, 0, 2, 7, 'Catastrophic error, localized to RDMAP Stream'",
        "00 00 00 00, 0, 0, 0, Local Catastrophic Error",
        "01 FF 00 00, 0, 1, 255, Unknown error",
        "F3 77 00 00, 15, 3, 119, Unknown error",
        "12 05 1F FF, 1, 2, 5, DDP Message too long for available buffer"
    })
    @Requirement({"RDMAP-5.4-01", "RDMAP-5.4-02", "RDMAP-3.2-04", "RDMAP-4.8-02"})
    void itIsTakenWithoutReceiveAndReportedWithLayerTypeAndCode(
            String content, int layer, int type, int code, String name) {
        stream.input(terminate(hex(content)));

        assertThat(stream.stream().error()).isEqualTo(new StreamError(layer, type, code, name, true, ""));
        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED);
        assertThat(stream.events().errors()).containsExactly(stream.stream().error());
        assertThat(stream.events().messages().getFirst()).contains(name);
    }

    @Test
    @Requirement("RDMAP-4.1-08")
    void itsInvalidateFieldIsIgnored() {
        MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);

        stream.input(untagged(UNTAGGED_LAST, 0x47, advertised.stag(), 2, 1, 0, hex("11 00 00 00")));

        assertThat(stream.stream().error().type()).isEqualTo(1);
        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED);
        assertThat(advertised.isValid()).isTrue();
    }

    @Test
    @Requirement({"RDMAP-5.4-05", "RDMAP-6.2.1-03", "RDMAP-6.2.1-04"})
    void itIsAnsweredByAnOrderlyCloseAndNothingElse() {
        stream.wire().room(1);
        stream.endpoint().write(1).with(region).remote(REMOTE, 0).post();
        stream.wire().output();
        stream.wire().takeAll();

        stream.input(terminate(hex("11 00 00 00")));

        assertThat(stream.output()).isEmpty();
        assertThat(stream.wire().closing()).isTrue();
        assertThat(stream.wire().aborted()).isFalse();
        stream.wire().over(true, "closed");
        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED, StreamState.CLOSED);
        assertThat(stream.stream().error().remote()).isTrue();
    }

    @Test
    void segmentsAfterTerminateAreDropped() {
        stream.endpoint().receive(1).with(region, 0, 10).post();

        stream.input(
                terminate(hex("11 00 00 00")),
                write(region.stag(), 0, ONE),
                send(1, ONE),
                terminate(hex("12 05 00 00")));

        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.stream().error().type()).isEqualTo(1);
        assertThat(stream.events().states()).hasSize(1);
        assertThat(stream.stream().counters().writesReceived()).isZero();
    }

    @Test
    @Requirement("RDMAP-6.2.1-02")
    void allOutstandingWorkIsFlushedOnceAndInOrder() {
        stream.wire().holdTransfer(true);
        stream.endpoint().receive(100).with(region, 0, 1).post();
        for (int i = 0; i < 10; i++) {
            stream.endpoint().write(i).remote(REMOTE, 0).post();
        }
        stream.wire().output();
        stream.endpoint().send(10).post();

        stream.input(terminate(hex("20 02 00 00")));

        assertThat(stream.completions().sendIds()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(sendStatuses()).containsOnly(CqeStatus.FLUSHED);
        assertThat(stream.completions().receiveIds()).containsExactly(100L);
        assertThat(stream.completions().sends())
                .extracting("error")
                .containsOnly(stream.stream().error());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "11 01, REMOTE_ACCESS_ERROR",
        "11 00, REMOTE_ACCESS_ERROR",
        "02 05, REMOTE_OPERATION_ERROR",
        "11 04, REMOTE_OPERATION_ERROR"
    })
    void terminateBlamesRefusedWrite(String error, CqeStatus status) {
        stream.wire().holdTransfer(true);
        stream.endpoint().write(1).with(region, 0, 100).remote(REMOTE, 0).post();
        stream.endpoint().write(2).with(region, 0, 100).remote(REMOTE, 1000).post();
        stream.endpoint().write(3).with(region, 0, 100).remote(REMOTE, 2000).post();
        stream.wire().output();

        stream.input(refusing(error, stream.wire().takeAll().get(1)));

        assertThat(sendStatuses()).containsExactly(CqeStatus.FLUSHED, status, CqeStatus.FLUSHED);
    }

    @Test
    void terminateBlamesRefusedSend() {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.endpoint().write(2).remote(REMOTE, 0).post();
        stream.endpoint().send(3).post();
        stream.wire().output();

        stream.input(refusing("12 02", stream.wire().takeAll().get(2)));

        assertThat(sendStatuses())
                .containsExactly(CqeStatus.FLUSHED, CqeStatus.FLUSHED, CqeStatus.REMOTE_OPERATION_ERROR);
    }

    @Test
    void terminateBlamesPartlySentSend() {
        stream.wire().room(1);
        stream.endpoint().send(1).with(region).post();
        stream.wire().output();

        stream.input(refusing("12 05", stream.wire().take()));

        assertThat(sendStatuses()).containsExactly(CqeStatus.REMOTE_OPERATION_ERROR);
    }

    @Test
    void terminateBlamesPartlySentWrite() {
        stream.wire().room(1);
        stream.endpoint().write(1).with(region).remote(REMOTE, 0).post();
        stream.wire().output();

        stream.input(refusing("11 01", stream.wire().take()));

        assertThat(sendStatuses()).containsExactly(CqeStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void terminateBlamesRefusedRead() {
        stream.endpoint().read(1).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.endpoint().read(2).with(region, 0, 1).remote(REMOTE, 0).post();
        Segment second = stream.output().get(1);

        stream.input(terminate(join(hex("01 02 E0 00 002E"), second.octets())));

        assertThat(sendStatuses()).containsExactly(CqeStatus.FLUSHED, CqeStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void terminateOfLinuxSiwWithoutMsnBlamesOldestRead() {
        stream.endpoint().read(1).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.endpoint().read(2).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.output();

        stream.input(terminate(hex("10 01 07 00 001C 4141 00000000 00000001 00000700 00000000")));

        assertThat(stream.stream().error().layer()).isZero();
        assertThat(stream.stream().error().type()).isEqualTo(1);
        assertThat(sendStatuses()).containsExactly(CqeStatus.REMOTE_ACCESS_ERROR, CqeStatus.FLUSHED);
    }

    @Test
    void terminateBlamesTransferredWrite() {
        stream.wire().holdTransfer(true);
        stream.endpoint().write(1).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.endpoint().write(2).with(region, 0, 1).remote(REMOTE, 50).post();
        stream.wire().output();
        Segment second = stream.wire().takeAll().get(1);
        stream.wire().silentlyTransferAll();

        stream.input(refusing("11 00", second));

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
        assertThat(sendStatuses().getLast()).isEqualTo(CqeStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void terminateBlamesNoUnsentWrite() {
        stream.endpoint().write(1).with(region, 0, 1).remote(REMOTE, 0).post();
        Segment first = stream.onlyOutput();
        stream.wire().room(0);
        stream.endpoint().write(2).with(region, 0, 1).remote(REMOTE, 0).post();

        stream.input(refusing("11 00", first));

        assertThat(sendStatuses()).containsExactly(CqeStatus.SUCCESS, CqeStatus.FLUSHED);
    }

    @Test
    void headerWithoutHeaderBitsIsIgnored() {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.wire().output();

        stream.input(
                terminate(join(hex("12 05 00 00 0012"), stream.wire().take().header())));

        assertThat(sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void refusedReadResponseBlamesNoWrite() {
        stream.wire().holdTransfer(true);
        stream.endpoint().write(1).with(region, 0, 100).remote(REMOTE, 0).post();
        stream.wire().output();

        stream.input(refusing("11 00", new Segment(readResponse(REMOTE, 50, ONE))));

        assertThat(sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, -1})
    void refusedMessageOfOtherQueueBlamesNoSend(int qn) {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.wire().output();

        stream.input(refusing("12 01", new Segment(untagged(0x41, 0x43, 0, qn, 1, 0, ONE))));

        assertThat(sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void refusedEmptyWriteBlamesNoOtherWrite() {
        stream.wire().holdTransfer(true);
        stream.endpoint().write(1).with(region, 0, 100).remote(REMOTE, 0).post();
        stream.wire().output();

        stream.input(refusing("02 05", new Segment(tagged(0xC1, 0x40, REMOTE + 1, 0, new byte[0]))));

        assertThat(sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    /** Returns Terminate contents that are truncated, or that contradict their lengths or header control bits. */
    static Stream<Arguments> oddContents() {
        byte[] whole = hex("01 02 E0 00 002E", "41 41 00000000 00000001 00000001 00000000", "00".repeat(28));
        return Stream.concat(
                IntStream.rangeClosed(0, whole.length)
                        .mapToObj(n -> Arguments.of(Octets.show(Arrays.copyOf(whole, n)))),
                Stream.of(
                        Arguments.of("11 00 C0 00 FFFF C140 00000000 0000000000000000"),
                        Arguments.of("11 00 C0 00 0000 C140"),
                        Arguments.of("11 00 40 00 0000"),
                        Arguments.of("11 00 80 00 1234"),
                        Arguments.of("11 00 20 00"),
                        Arguments.of("11 00 FF FF 0000 41"),
                        Arguments.of("11 00 07 00"),
                        Arguments.of("11 00 00 00" + " FF".repeat(252))));
    }

    @ParameterizedTest
    @MethodSource("oddContents")
    @Requirement("RDMAP-5.4-02")
    void whateverItsLengthItEndsTheStreamAndNothingWorse(String content) {
        stream.endpoint().read(1).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.endpoint().send(2).post();
        stream.output();

        stream.input(terminate(hex(content)));

        assertThat(stream.stream().state()).isEqualTo(StreamState.TERMINATED);
        assertThat(stream.stream().error().remote()).isTrue();
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
        assertThat(sendStatuses()).doesNotContain(CqeStatus.SUCCESS);
        assertThat(stream.output()).isEmpty();
        assertThat(stream.wire().closing()).isTrue();
    }

    @Test
    @Requirement("RDMAP-5.4-01")
    void itIsTakenInSeveralSegmentsToo() {
        byte[] content = hex("12 05 C0 00 0012 4143 00000000 00000000 00000001 00000000");

        stream.input(
                untagged(0x01, 0x47, 0, 2, 1, 0, Arrays.copyOf(content, 3)),
                untagged(0x41, 0x47, 0, 2, 1, 3, Arrays.copyOfRange(content, 3, content.length)));

        assertThat(stream.stream().error().code()).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement("RDMAP-6.2.1-03")
    void aPeerThatIsGoneAtOnceBehindItChangesNothing(boolean graceful) {
        stream.endpoint().send(1).post();
        stream.wire().output();
        stream.endpoint().read(2).with(region, 0, 1).remote(REMOTE, 0).post();

        stream.input(terminate(hex("11 00 00 00")));
        stream.wire().over(graceful, "gone");

        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED, StreamState.CLOSED);
        assertThat(stream.stream().error().type()).isEqualTo(1);
        assertThat(stream.stream().error().remote()).isTrue();
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
    }

    @Test
    void terminateAfterLocalTerminateChangesNothing() {
        stream.input(send(9, ONE));
        stream.input(terminate(hex("11 00 00 00")));

        assertThat(stream.stream().error().remote()).isFalse();
        assertThat(stream.onlyOutput().opcode()).isEqualTo(RdmapControl.TERMINATE);
        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED);
    }

    @Test
    void aTerminateDuringAGracefulCloseIsReported() {
        stream.stream().close();
        stream.output();

        stream.input(terminate(hex("11 00 00 00")));
        stream.wire().over(true, "closed");

        assertThat(stream.events().states())
                .containsExactly(StreamState.CLOSING, StreamState.TERMINATED, StreamState.CLOSED);
        assertThat(stream.stream().error().type()).isEqualTo(1);
    }

    @Test
    void aTerminateOfLinuxSiwIsUnderstood() {
        // FPDU 11 of the capture rping-terminate-crc1: siw refuses the STag of a Read Response.
        stream.input(hex("4147 00000000 00000002 00000001 00000000 11010300 0064 c142 f607e900 000055c5c8c11140"));

        assertThat(stream.stream().error()).isEqualTo(new StreamError(1, 1, 1, "Base or bounds violation", true, ""));
    }
}
