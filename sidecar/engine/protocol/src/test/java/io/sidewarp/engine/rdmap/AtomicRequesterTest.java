// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Ulpdus.atomicResponse;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.terminate;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests atomic operations of this side (RFC 7306 section 5), with their bytes written out. */
class AtomicRequesterTest {

    private static final String ZERO = "00000000";
    private static final int REMOTE = 0xA1B2C3D4;
    private static final int ORD = 3;

    @AutoClose
    private final LoneStream stream = new LoneStream(EndpointOptions.defaults().reads(4, ORD));

    private final MemoryRegion sink = stream.region(64);

    private List<Integer> opcodesOut() {
        return stream.output().stream().map(Segment::opcode).toList();
    }

    @Test
    @Requirement({"EXT-4.1-01", "EXT-4.1-02", "EXT-5.2.1-01"})
    void aFetchAddIsAnUntaggedSegmentOfQueue1WithOpcodeAAnd70Octets() {
        stream.endpoint()
                .fetchAdd(1, 0)
                .add(0x0102030405060708L, 0x8000000080000000L)
                .remote(REMOTE, 0x1122334455667788L)
                .post();

        assertThat(stream.onlyOutput().octets())
                .hasSize(70)
                .isEqualTo(join(
                        hex("41 4A", ZERO, "00000001", "00000001", ZERO),
                        hex("00000000", "00000001", "A1B2C3D4", "1122334455667788"),
                        hex("0102030405060708", "8000000080000000", "0000000000000000", "FFFFFFFFFFFFFFFF")));
    }

    @Test
    @Requirement({"EXT-4.1-01", "EXT-4.1-02", "EXT-5.2.1-01"})
    void aCompareAndSwapHasOperationCode2AndAllFourOperands() {
        stream.endpoint()
                .compareSwap(1, 0, 0)
                .compareSwap(0x33, 0x44, 0x11, 0x22)
                .remote(REMOTE, 8)
                .post();

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex(
                        "00000002",
                        "00000001",
                        "A1B2C3D4",
                        "0000000000000008",
                        "0000000000000011",
                        "0000000000000022",
                        "0000000000000033",
                        "0000000000000044"));
    }

    @Test
    @Requirement("EXT-4.1-02")
    void readsAndAtomicOperationsShareOneSequenceOfQueue1() {
        stream.endpoint().read(1).with(sink, 0, 8).remote(REMOTE, 0).post();
        stream.endpoint().fetchAdd(2, 1).remote(REMOTE, 0).post();
        stream.endpoint().read(3).with(sink, 8, 8).remote(REMOTE, 0).post();

        List<Segment> segments = stream.output();

        assertThat(segments).extracting(Segment::opcode).containsExactly(1, 0xA, 1);
        assertThat(segments).extracting(Segment::qn).containsOnly(1);
        assertThat(segments).extracting(Segment::msn).containsExactly(1, 2, 3);
    }

    @Test
    @Requirement("EXT-5.2.2-02")
    void anAtomicOperationCompletesWithItsResponseAndNotBefore() {
        stream.endpoint().fetchAdd(5, 1).with(sink, 8, 8).remote(REMOTE, 0).post();
        stream.output();
        stream.wire().transferAll();
        assertThat(stream.completions().isEmpty()).isTrue();

        stream.input(hex("41 4B", ZERO, "00000003", "00000001", ZERO, "00000001", "1122334455667788"));

        assertThat(stream.completions().sendIds()).containsExactly(5L);
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
        assertThat(stream.completions().sendResults()).containsExactly(0x1122334455667788L);
        assertThat(TestMemory.getWord(sink, 8)).isEqualTo(0x1122334455667788L);
        assertThat(TestMemory.get(sink, 0, 8)).containsOnly(0);
        assertThat(TestMemory.get(sink, 16, 48)).containsOnly(0);
        assertThat(stream.completions().notified()).isTrue();
    }

    @Test
    @Requirement("EXT-4.1-01")
    void theInvalidateFieldOfAResponseIsIgnored() {
        stream.endpoint().fetchAdd(5, 1).remote(REMOTE, 0).post();
        stream.output();

        stream.input(hex("41 4B DEADBEEF", "00000003", "00000001", ZERO, "00000001", "1122334455667788"));

        assertThat(stream.completions().sendResults()).containsExactly(0x1122334455667788L);
    }

    @Test
    void anAtomicOperationNeedsNoLocalMemory() {
        stream.endpoint().compareSwap(1, 2, 3).remote(REMOTE, 0).post();
        stream.output();

        stream.input(atomicResponse(1, 1, -1L));

        assertThat(stream.completions().sendResults()).containsExactly(-1L);
    }

    @Test
    @Requirement("EXT-5.2.2-02")
    void readsAndAtomicOperationsTogetherAreNotMoreThanOrd() {
        for (int i = 0; i < 6; i++) {
            if (i % 2 == 0) {
                stream.endpoint().fetchAdd(i, 1).remote(REMOTE, 0).post();
            } else {
                stream.endpoint().read(i).with(sink, 0, 8).remote(REMOTE, 0).post();
            }
        }

        assertThat(opcodesOut()).containsExactly(0xA, 1, 0xA);
        stream.input(atomicResponse(1, 1, 0));
        assertThat(opcodesOut()).containsExactly(1);
        stream.input(readResponse(sink.stag(), 0, new byte[8]));
        assertThat(opcodesOut()).containsExactly(0xA);
        stream.input(atomicResponse(2, 3, 0), readResponse(sink.stag(), 0, new byte[8]), atomicResponse(3, 5, 0));
        assertThat(opcodesOut()).containsExactly(1);
        stream.input(readResponse(sink.stag(), 0, new byte[8]));

        assertThat(stream.completions().sendIds()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.SUCCESS);
    }

    @Test
    void aFenceWaitsForAtomicOperationsToo() {
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
        stream.endpoint().send(2).fenced().post();
        assertThat(opcodesOut()).containsExactly(0xA);

        stream.input(atomicResponse(1, 1, 0));

        assertThat(opcodesOut()).containsExactly(3);
    }

    @Test
    @Requirement("EXT-8-01")
    void aResponseThatRepeatsAnotherIdentifierIsAnUnspecifiedOperationError() {
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
        stream.output();

        stream.input(atomicResponse(1, 2, 0));

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex("02 FF C0 00 001E", "41 4B", ZERO, "00000003", "00000001", ZERO));
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    @Requirement({"EXT-8-01", "EXT-5.2.2-02"})
    void aResponseThatNobodyWaitsForFindsNoBuffer() {
        stream.input(atomicResponse(1, 1, 0));

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex("12 02 C0 00 001E", "41 4B", ZERO, "00000003", "00000001", ZERO));
    }

    @Test
    @Requirement("EXT-8-01")
    void aResponseBeforeItsTurnIsAnError() {
        stream.endpoint().read(1).with(sink, 0, 8).remote(REMOTE, 0).post();
        stream.endpoint().fetchAdd(2, 1).remote(REMOTE, 0).post();
        stream.output();

        stream.input(atomicResponse(1, 2, 0));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("12 02 C0 00 001E"));
    }

    @Test
    void aReadResponseForAnAtomicOperationIsAnUnexpectedOpcode() {
        stream.endpoint().fetchAdd(1, 1).with(sink, 0, 8).remote(REMOTE, 0).post();
        stream.output();

        stream.input(readResponse(sink.stag(), 0, new byte[8]));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 06 C0 00"));
        assertThat(TestMemory.get(sink)).containsOnly(0);
    }

    @Test
    @Requirement("EXT-8-01")
    void aResponseOfAnotherLengthIsAnError() {
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
        stream.output();
        stream.input(untagged(0x41, 0x4B, 0, 3, 1, 0, new byte[11]));
        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 FF C0 00 001D"));

        try (LoneStream other = new LoneStream()) {
            other.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
            other.output();
            other.input(untagged(0x41, 0x4B, 0, 3, 1, 0, new byte[13]));
            assertThat(other.onlyOutput().payload()).startsWith(hex("12 05 C0 00 001F"));
        }
    }

    @Test
    @Requirement("EXT-8-01")
    void aResponseOnAnotherQueueOrOutOfSequenceIsAnError() {
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
        stream.output();
        stream.input(untagged(0x41, 0x4B, 0, 1, 1, 0, new byte[12]));
        assertThat(stream.onlyOutput().payload()).startsWith(hex("12 01 C0 00"));

        try (LoneStream other = new LoneStream()) {
            other.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
            other.output();
            other.input(atomicResponse(2, 1, 0));
            assertThat(other.onlyOutput().payload()).startsWith(hex("12 03 C0 00"));
        }
    }

    @Test
    @Requirement("EXT-8-01")
    void versionsOfAResponseAreChecked() {
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
        stream.output();
        stream.input(untagged(0x41, 0x8B, 0, 3, 1, 0, new byte[12]));
        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 05 C0 00"));

        try (LoneStream other = new LoneStream()) {
            other.input(untagged(0x42, 0x4B, 0, 3, 1, 0, new byte[12]));
            assertThat(other.onlyOutput().payload()).startsWith(hex("12 06 C0 00"));
        }
    }

    @Test
    void aTerminateThatNamesTheRequestFailsThatOperation() {
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
        stream.endpoint().fetchAdd(2, 1).remote(REMOTE, 1).post();
        stream.output();

        stream.input(terminate(hex("02 07 C0 00 0046", "41 4A", ZERO, "00000001", "00000002", ZERO)));

        assertThat(stream.completions().sendStatuses())
                .containsExactly(CqeStatus.FLUSHED, CqeStatus.REMOTE_OPERATION_ERROR);
    }

    @Test
    void localMemoryThatIsGoneEndsTheStream() {
        MemoryRegion gone = stream.memory().region(8, AccessRight.LOCAL_WRITE);
        stream.endpoint().fetchAdd(1, 1).with(gone).remote(REMOTE, 0).post();
        stream.output();
        stream.memory().deregister(gone);

        stream.input(atomicResponse(1, 1, 0));

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.LOCAL_PROTECTION_ERROR);
        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("00 00 00 00"));
    }

    @Test
    void aRequestBehindThePeersCloseCannotBeAnswered() {
        stream.wire().room(0);
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0).post();
        stream.wire().output();
        stream.wire().peerClosed();
        stream.wire().room(Integer.MAX_VALUE);
        stream.output();

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.stream().error()).isNotNull();
    }
}
