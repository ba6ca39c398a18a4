// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.immediate;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.terminate;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.testing.WireEnd;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.QueuePairCounters;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Immediate Data (RFC 7306 section 6), with its bytes written out. */
class ImmediateDataTest {

    private static final String ZERO = "00000000";
    private static final long DATA = 0x0102030405060708L;

    @AutoClose
    private final LoneStream stream = new LoneStream();

    @Test
    @Requirement({"EXT-4.1-01", "EXT-4.1-02", "EXT-6.3-01"})
    void immediateDataIsAnUntaggedSegmentOfQueue0WithOpcode8And26Octets() {
        stream.endpoint().immediate(1, DATA).post();

        assertThat(stream.onlyOutput().octets())
                .hasSize(26)
                .isEqualTo(hex("41 48", ZERO, ZERO, "00000001", ZERO, "0102030405060708"));
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
    }

    @Test
    @Requirement({"EXT-4.1-01", "EXT-4.1-02", "EXT-6.3-01"})
    void immediateDataWithSolicitedEventHasOpcode9() {
        stream.endpoint().immediate(1, DATA).solicited().post();

        assertThat(stream.onlyOutput().octets())
                .isEqualTo(hex("41 49", ZERO, ZERO, "00000001", ZERO, "0102030405060708"));
    }

    @Test
    @Requirement({"EXT-4.1-02", "EXT-6.3-01"})
    void immediateDataAndSendsShareTheirSequenceNumbers() {
        stream.endpoint().send(1).post();
        stream.endpoint().immediate(2, 1).post();
        stream.endpoint().immediate(3, 2).solicited().post();
        stream.endpoint().send(4).post();

        List<Segment> segments = stream.output();

        assertThat(segments).extracting(Segment::opcode).containsExactly(3, 8, 9, 3);
        assertThat(segments).extracting(Segment::msn).containsExactly(1, 2, 3, 4);
        assertThat(segments).extracting(Segment::qn).containsOnly(0);
    }

    @Test
    void aWriteWithImmediateDataIsTwoMessagesAndOneCompletion() {
        MemoryRegion source = stream.memory().regionWith(hex("48656C6C6F"));

        stream.endpoint()
                .write(7)
                .with(source)
                .remote(0xA1B2C3D4, 0x10)
                .immediate(DATA)
                .post();
        stream.endpoint()
                .write(8)
                .with(source)
                .remote(5, 0)
                .immediate(2)
                .solicited()
                .post();

        assertThat(stream.output())
                .extracting(Segment::octets)
                .containsExactly(
                        hex("C1 40 A1B2C3D4 0000000000000010 48656C6C6F"),
                        hex("41 48", ZERO, ZERO, "00000001", ZERO, "0102030405060708"),
                        hex("C1 40 00000005 0000000000000000 48656C6C6F"),
                        hex("41 49", ZERO, ZERO, "00000002", ZERO, "0000000000000002"));
        assertThat(stream.completions().sendIds()).containsExactly(7L, 8L);
        assertThat(stream.completions().sends())
                .extracting(completion -> completion.length())
                .containsOnly(5L);
    }

    @Test
    @Requirement("RDMAP-5.5-14")
    void aWriteWithImmediateDataIsCompleteWhenTheImmediateDataIsTakenOver() {
        stream.wire().holdTransfer(true).room(1);
        stream.endpoint().write(1).remote(1, 0).immediate(DATA).post();

        stream.wire().output();
        stream.wire().transferAll();
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.wire().output();
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.wire().transferAll();

        assertThat(stream.completions().sendIds()).containsExactly(1L);
    }

    @Test
    @Requirement("EXT-6.3-01")
    void immediateDataUsesUpOneReceiveAndLeavesItsMemoryAlone() {
        MemoryRegion memory = stream.memory().regionWith(pattern(16, 1));
        stream.endpoint().receive(1).with(memory).post();
        stream.endpoint().receive(2).post();
        stream.endpoint().receive(3).with(memory).post();

        stream.input(immediate(1, DATA), untagged(0x41, 0x49, 0, 0, 2, 0, hex("FFFFFFFFFFFFFFFE")), send(3, hex("AA")));

        assertThat(stream.completions().receiveIds()).containsExactly(1L, 2L, 3L);
        assertThat(stream.completions().receiveResults().subList(0, 2)).containsExactly(DATA, -2L);
        assertThat(stream.completions().receives())
                .extracting(completion -> completion.opcode())
                .containsExactly(RdmapControl.IMMEDIATE, RdmapControl.IMMEDIATE_WITH_SE, RdmapControl.SEND);
        assertThat(stream.completions().receives())
                .extracting(completion -> completion.length())
                .containsExactly(0L, 0L, 1L);
        assertThat(TestMemory.get(memory)).startsWith(0xAA).endsWith(Arrays.copyOfRange(pattern(16, 1), 1, 16));
        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);
    }

    @Test
    @Requirement("EXT-6.3-01")
    void immediateDataTellsThatTheWriteBeforeItIsPlaced() {
        MemoryRegion target = stream.region(1000);
        for (int round = 1; round <= 100; round++) {
            byte[] data = pattern(1000, round);
            stream.endpoint().receive(round).post();
            stream.completions()
                    .onEachCompletion(() -> assertThat(TestMemory.get(target)).isEqualTo(data));

            stream.input(write(target.stag(), 0, data), immediate(round, round));
        }

        assertThat(stream.completions().receives()).hasSize(100);
    }

    @Test
    @Requirement("EXT-4.1-01")
    void theReservedWordOfImmediateDataIsIgnored() {
        stream.endpoint().receive(1).post();

        stream.input(untagged(0x41, 0x48, 0xDEADBEEF, 0, 1, 0, hex("0102030405060708")));

        assertThat(stream.completions().receiveResults()).containsExactly(DATA);
    }

    @Test
    @Requirement("EXT-6.3-01")
    void immediateDataInSeveralSegmentsIsPutTogether() {
        stream.endpoint().receive(1).post();

        stream.input(untagged(0x01, 0x48, 0, 0, 1, 0, hex("010203")));
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.input(untagged(0x41, 0x48, 0, 0, 1, 3, hex("0405060708")));

        assertThat(stream.completions().receiveResults()).containsExactly(DATA);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 7})
    @Requirement({"EXT-6.3-01", "EXT-8-01"})
    void immediateDataThatIsTooShortIsAnUnspecifiedOperationError(int length) {
        stream.endpoint().receive(1).with(stream.region(64)).post();
        byte[] ulpdu = untagged(0x41, 0x48, 0, 0, 1, 0, new byte[length]);

        stream.input(ulpdu);

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(join(
                        hex(
                                "02 FF C0 00",
                                "00" + Integer.toHexString(0x100 | 18 + length).substring(1)),
                        Arrays.copyOf(ulpdu, 18)));
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    @Requirement({"EXT-6.3-01", "EXT-8-01"})
    void immediateDataThatIsTooLongIsTooLongForItsBufferWhateverTheReceive() {
        stream.endpoint().receive(1).with(stream.region(64)).post();

        stream.input(untagged(0x41, 0x48, 0, 0, 1, 0, new byte[9]));

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex("12 05 C0 00 001B", "41 48", ZERO, ZERO, "00000001", ZERO));
    }

    @Test
    @Requirement({"EXT-6.3-01", "EXT-8-01"})
    void immediateDataWithoutAReceiveFindsNoBuffer() {
        stream.input(immediate(1, DATA));

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex("12 02 C0 00 001A", "41 48", ZERO, ZERO, "00000001", ZERO));
    }

    @Test
    @Requirement("EXT-8-01")
    void immediateDataOnAnotherQueueIsAnInvalidQueueNumber() {
        stream.input(untagged(0x41, 0x48, 0, 1, 1, 0, new byte[8]));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("12 01 C0 00 001A"));
    }

    @Test
    @Requirement("EXT-8-01")
    void aMessageThatChangesFromSendToImmediateDataIsAnUnexpectedOpcode() {
        stream.endpoint().receive(1).with(stream.region(64)).post();

        stream.input(untagged(0x01, 0x43, 0, 0, 1, 0, new byte[8]), untagged(0x41, 0x48, 0, 0, 1, 0, new byte[8]));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 06 C0 00"));
    }

    @Test
    @Requirement("EXT-8-01")
    void aPeerWithoutTheExtensionFindsAnUnexpectedOpcode() {
        try (LoneStream without = new LoneStream(EndpointOptions.defaults().extensions(false))) {
            without.endpoint().receive(1).with(without.region(8)).post();

            without.input(immediate(1, DATA));

            assertThat(without.onlyOutput().payload()).startsWith(hex("02 06 C0 00"));
        }
    }

    @Test
    @Requirement("EXT-4.1-01")
    void aStreamOfVersion0HasNoImmediateData() {
        try (LoneStream rdmac = new LoneStream(EndpointOptions.defaults(), new WireEnd().protocolVersion(0))) {
            rdmac.endpoint().receive(1).post();
            assertThat(rdmac.stream().extensions()).isFalse();

            rdmac.input(hex("40 08", ZERO, ZERO, "00000001", ZERO, "0102030405060708"));

            assertThat(rdmac.onlyOutput().payload()).startsWith(hex("02 06 C0 00"));
        }
    }

    @Test
    void aTerminateForTheImmediateDataOfAWriteFailsThatWork() {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.endpoint().write(2).remote(1, 0).immediate(DATA).post();
        stream.endpoint().write(3).remote(1, 0).immediate(DATA).post();
        stream.output();

        stream.input(terminate(hex("12 02 C0 00 001A", "41 48", ZERO, ZERO, "00000002", ZERO)));

        assertThat(stream.completions().sendStatuses())
                .containsExactly(CqeStatus.FLUSHED, CqeStatus.REMOTE_OPERATION_ERROR, CqeStatus.FLUSHED);
    }

    @Test
    void countersCountImmediateData() {
        stream.endpoint().receive(1).post();
        stream.endpoint().immediate(1, 1).post();
        stream.endpoint().write(2).remote(1, 0).immediate(2).post();
        stream.output();
        stream.input(immediate(1, 3));

        QueuePairCounters counters = stream.stream().counters();
        assertThat(counters.immediatesSent()).isEqualTo(2);
        assertThat(counters.immediatesReceived()).isEqualTo(1);
        assertThat(counters.writesSent()).isEqualTo(1);
        assertThat(counters.sendsSent()).isZero();
        assertThat(counters.sendsReceived()).isZero();
        assertThat(counters.octetsReceived()).isZero();
    }
}
