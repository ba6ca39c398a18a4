// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.UNTAGGED_LAST;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendInvalidate;
import static io.sidewarp.engine.testing.Ulpdus.sendLast;
import static io.sidewarp.engine.testing.Ulpdus.sendMore;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static io.sidewarp.engine.testing.Ulpdus.writeMore;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.Arrays;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the handling of received Sends and Writes. */
class SendReceiveTest {

    private static final byte[] NOTHING = new byte[0];

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private final MemoryRegion region = stream.region(64 * 1024);

    private Completion onlyReceive() {
        assertThat(stream.completions().receives()).hasSize(1);
        return stream.completions().receives().getFirst();
    }

    @Test
    @Requirement({"RDMAP-5.3-01", "DDP-5.4-02"})
    void eachSendTakesOneReceiveAndTellsItsLength() {
        stream.endpoint().receive(1).with(region, 0, 8192).post();
        stream.endpoint().receive(2).with(region, 8192, 8192).post();
        stream.endpoint().receive(3).with(region, 16384, 8192).post();
        byte[] message = pattern(8192, 1);

        stream.input(send(1, NOTHING), send(2, hex("AB")), send(3, message));

        assertThat(stream.completions().receiveIds()).containsExactly(1L, 2L, 3L);
        assertThat(stream.completions().receives())
                .extracting(Completion::length)
                .containsExactly(0L, 1L, 8192L);
        assertThat(stream.completions().receiveStatuses()).containsOnly(CqeStatus.SUCCESS);
        assertThat(TestMemory.get(region, 8192, 2)).isEqualTo(hex("AB00"));
        assertThat(TestMemory.get(region, 16384, 8192)).isEqualTo(message);
        assertThat(stream.endpoint().receiveQueue().outstanding()).isZero();
    }

    @Test
    @Requirement({"RDMAP-5.5-16", "DDP-5.4-01"})
    void aSendCompletesWithItsLastSegmentAndNotBefore() {
        stream.endpoint().receive(1).with(region, 0, 100).post();

        stream.input(sendMore(1, 0, pattern(60, 1)));
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.input(sendLast(1, 60, pattern(40, 2)));

        assertThat(onlyReceive().length()).isEqualTo(100);
    }

    @Test
    @Requirement({"RDMAP-5.5-04", "RDMAP-5.5-10", "DDP-5.3-05"})
    void sendsCompleteInTheOrderSentWithEarlierWritesInPlace() {
        MemoryRegion target = stream.region(4);
        for (int i = 0; i < 50; i++) {
            stream.endpoint().receive(i).with(region, i, 1).post();
        }
        int[] next = new int[1];
        stream.completions().onEachCompletion(() -> {
            byte expected = (byte) next[0]++;
            assertThat(TestMemory.get(target)).containsOnly(expected);
        });

        for (int i = 0; i < 50; i++) {
            byte value = (byte) i;
            stream.input(
                    writeMore(target.stag(), 0, new byte[] {value, value}),
                    write(target.stag(), 2, new byte[] {value, value}),
                    send(i + 1, new byte[] {value}));
        }

        assertThat(next[0]).isEqualTo(50);
        assertThat(stream.completions().receiveIds()).isSorted().hasSize(50);
    }

    @Test
    void aReceiveScattersOverItsElements() {
        stream.endpoint()
                .receive(1)
                .with(region, 100, 3)
                .with(region, 0, 0)
                .with(region, 50, 2)
                .with(region, 10, 10)
                .post();

        stream.input(sendMore(1, 0, hex("0102")), sendMore(1, 2, hex("030405")), sendLast(1, 5, hex("0607")));

        assertThat(TestMemory.get(region, 99, 5)).isEqualTo(hex("0001020300"));
        assertThat(TestMemory.get(region, 49, 4)).isEqualTo(hex("00040500"));
        assertThat(TestMemory.get(region, 9, 4)).isEqualTo(hex("00060700"));
        assertThat(onlyReceive().length()).isEqualTo(7);
    }

    @Test
    void segmentsOutOfOrderAreScatteredToTheirPlaces() {
        stream.endpoint().receive(1).with(region, 100, 3).with(region, 50, 3).post();

        stream.input(sendMore(1, 4, hex("0506")), sendMore(1, 0, hex("01020304")), sendLast(1, 5, hex("06")));

        assertThat(TestMemory.get(region, 100, 3)).isEqualTo(hex("010203"));
        assertThat(TestMemory.get(region, 50, 3)).isEqualTo(hex("040506"));
    }

    @Test
    void aReceiveInAUsedSlotStartsFromItsFirstElement() {
        try (LoneStream narrow = new LoneStream(EndpointOptions.defaults().queueDepth(1))) {
            MemoryRegion memory = narrow.region(100);
            narrow.endpoint().receive(1).with(memory, 0, 3).with(memory, 10, 3).post();
            narrow.input(sendMore(1, 0, hex("010203")), sendLast(1, 3, hex("04")));
            narrow.endpoint().receive(2).with(memory, 50, 3).with(memory, 60, 3).post();

            narrow.input(sendMore(2, 4, hex("0506")), sendLast(2, 0, hex("01020304")));

            assertThat(TestMemory.get(memory, 50, 3)).isEqualTo(hex("010203"));
            assertThat(TestMemory.get(memory, 60, 3)).isEqualTo(hex("040506"));
        }
    }

    @ParameterizedTest(name = "opcode {0}")
    @CsvSource({"3, false, false", "4, false, true", "5, true, false", "6, true, true"})
    @Requirement("RDMAP-3.2-03")
    void aReceiveTellsTheSendTypeAndTheInvalidatedStag(int opcode, boolean solicited, boolean invalidated) {
        MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);
        stream.endpoint().receive(1).with(region, 0, 4096).post();

        stream.input(untagged(UNTAGGED_LAST, 0x40 | opcode, advertised.stag(), 0, 1, 0, pattern(100, 1)));

        assertThat(onlyReceive().length()).isEqualTo(100);
        assertThat(RdmapControl.isSolicited(onlyReceive().opcode())).isEqualTo(solicited);
        assertThat(RdmapControl.invalidates(onlyReceive().opcode())).isEqualTo(invalidated);
        assertThat(onlyReceive().invalidatedStag()).isEqualTo(invalidated ? advertised.stag() : 0);
        assertThat(advertised.isValid()).isNotEqualTo(invalidated);
        assertThat(stream.completions().notified()).isTrue();
    }

    @Test
    @Requirement("RDMAP-4.1-08")
    void whatASendCarriesInTheInvalidateFieldIsIgnored() {
        MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);
        stream.endpoint().receive(1).with(region, 0, 16).post();
        stream.endpoint().receive(2).with(region, 16, 16).post();

        stream.input(
                untagged(UNTAGGED_LAST, 0x43, advertised.stag(), 0, 1, 0, NOTHING),
                untagged(UNTAGGED_LAST, 0x45, 0xDEADBEEF, 0, 2, 0, NOTHING));

        assertThat(stream.completions().receives())
                .extracting(Completion::invalidatedStag)
                .containsExactly(0, 0);
        assertThat(advertised.isValid()).isTrue();
        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);
    }

    @Test
    @Requirement({"RDMAP-4.1-03", "DDP-4.1-05"})
    void reservedBitsAreIgnored() {
        stream.endpoint().receive(1).with(region, 0, 16).post();

        stream.input(untagged(0x7D, 0x73, 0, 0, 1, 0, hex("AB")));

        assertThat(onlyReceive().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(onlyReceive().opcode()).isEqualTo(RdmapControl.SEND);
    }

    @Test
    @Requirement("RDMAP-5.1-01")
    void aWriteTellsNobody() {
        stream.endpoint().receive(1).with(region, 0, 16).post();
        byte[] message = pattern(32 * 1024, 1);

        for (int i = 0; i < 32; i++) {
            byte[] part = Arrays.copyOfRange(message, i * 1024, (i + 1) * 1024);
            stream.input(i == 31 ? write(region.stag(), i * 1024L, part) : writeMore(region.stag(), i * 1024L, part));
        }

        assertThat(TestMemory.get(region, 0, 32 * 1024)).isEqualTo(message);
        assertThat(stream.completions().isEmpty()).isTrue();
        assertThat(stream.events().states()).isEmpty();
        assertThat(stream.output()).isEmpty();
    }

    @Test
    @Requirement({"RDMAP-5.1-04", "DDP-5.2-08"})
    void aZeroLengthWriteIsTakenWithAnyStag() {
        stream.input(write(0, 0, NOTHING), write(-1, -1L, NOTHING));

        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);
        assertThat(stream.stream().counters().writesReceived()).isEqualTo(2);
    }

    @Test
    @Requirement({"RDMAP-5.3-06", "RDMAP-3.2-03"})
    void anInvalidatedStagGivesNoMoreAccess() {
        MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);
        stream.endpoint().receive(1).with(region, 0, 16).post();
        stream.input(write(advertised.stag(), 0, hex("01")), sendInvalidate(1, advertised.stag()));
        assertThat(onlyReceive().status()).isEqualTo(CqeStatus.SUCCESS);

        stream.input(write(advertised.stag(), 0, hex("02")));

        assertThat(TestMemory.get(advertised, 0, 1)).isEqualTo(hex("01"));
        assertThat(stream.onlyOutput().payload()).startsWith(hex("11 00 C0 00"));
    }

    @Test
    @Requirement("RDMAP-5.3-06")
    void anStagIsInvalidatedByTheDeliveryAndNotByTheFirstSegment() {
        MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);
        stream.endpoint().receive(1).with(region, 0, 16).post();

        stream.input(untagged(0x01, 0x44, advertised.stag(), 0, 1, 0, hex("01")));
        assertThat(advertised.isValid()).isTrue();
        stream.input(untagged(0x41, 0x44, advertised.stag(), 0, 1, 1, hex("02")));

        assertThat(advertised.isValid()).isFalse();
    }

    @Test
    @Requirement({"RDMAP-5.2.1-02", "RDMAP-5.2.1-01"})
    void aReadRequestTakesNoReceiveAndTellsNobody() {
        stream.endpoint().receive(1).with(region, 0, 16).post();

        stream.input(readRequest(1, 5, 6, 16, region.stag(), 0));
        stream.output();

        assertThat(stream.completions().isEmpty()).isTrue();
        assertThat(stream.events().states()).isEmpty();
        assertThat(stream.endpoint().receiveQueue().outstanding()).isEqualTo(1);
    }

    @Test
    @Requirement("RDMAP-5.3-02")
    void nothingIsWrittenBehindTheReceiveOfASendThatIsTooLong() {
        stream.endpoint().receive(1).with(region, 0, 100).post();
        stream.endpoint().receive(2).with(region, 200, 100).post();

        stream.input(sendMore(1, 0, pattern(100, 1)), sendLast(1, 100, pattern(1, 2)));

        assertThat(TestMemory.get(region, 100, 200)).containsOnly(0);
        assertThat(stream.completions().receiveStatuses())
                .containsExactly(CqeStatus.LOCAL_LENGTH_ERROR, CqeStatus.FLUSHED);
        assertThat(stream.onlyOutput().payload()).startsWith(hex("12 05 C0 00 0013"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @Requirement({"DDP-7.1-02", "DDP-7.1-09"})
    void aSendWithoutReceiveEndsTheStreamWithThatError(int length) {
        stream.input(send(1, new byte[length]));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("12 02 C0 00"));
        assertThat(stream.stream().error()).isNotNull();
    }

    @Test
    void aReceivePostedJustInTimeIsFound() {
        for (int i = 1; i <= 10; i++) {
            stream.endpoint().receive(i).with(region, i, 1).post();
            stream.input(send(i, new byte[] {(byte) i}));
        }

        assertThat(stream.completions().receiveStatuses()).hasSize(10).containsOnly(CqeStatus.SUCCESS);
    }

    @Test
    void notificationComesOncePerBatchOfInput() {
        int[] notified = new int[1];
        for (int i = 1; i <= 3; i++) {
            stream.endpoint().receive(i).with(region, i, 1).post();
        }
        stream.completions().onEachCompletion(() -> {
            if (stream.completions().notified()) {
                notified[0]++;
            }
        });

        stream.wire().inputWithoutEnd(send(1, NOTHING));
        stream.wire().inputWithoutEnd(send(2, NOTHING));
        assertThat(stream.completions().notified()).isFalse();
        stream.input(send(3, NOTHING));

        assertThat(stream.completions().notified()).isTrue();
        assertThat(notified[0]).isZero();
    }
}
