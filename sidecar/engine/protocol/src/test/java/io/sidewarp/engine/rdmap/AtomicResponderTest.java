// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Ulpdus.atomicRequest;
import static io.sidewarp.engine.testing.Ulpdus.atomicRequestHeader;
import static io.sidewarp.engine.testing.Ulpdus.fetchAdd;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.engine.verbs.StreamError;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Atomic Requests of the peer (RFC 7306 section 5), with the bytes of their responses written out. */
class AtomicResponderTest {

    private static final String ZERO = "00000000";
    private static final int IRD = 4;
    private static final long BEFORE = 0x1122334455667788L;

    @AutoClose
    private final LoneStream stream = new LoneStream(EndpointOptions.defaults().reads(IRD, 4));

    private final MemoryRegion region = stream.region(64);

    private static byte[] compareSwap(int msn, int identifier, int stag, long to, long compare, long swap) {
        return atomicRequest(msn, atomicRequestHeader(2, identifier, stag, to, swap, -1L, compare, -1L));
    }

    @Test
    @Requirement({"EXT-4.1-01", "EXT-4.1-02", "EXT-5.2.2-01", "EXT-5.2.1-01", "EXT-5.2.1-02"})
    void aFetchAddIsAnsweredOnQueue3WithOpcodeBAnd30Octets() {
        TestMemory.putWord(region, 8, BEFORE);

        stream.input(join(
                hex("41 4A", ZERO, "00000001", "00000001", ZERO),
                hex("00000000", "CAFEBABE"),
                ByteBuffer.allocate(4).putInt(region.stag()).array(),
                hex("0000000000000008"),
                hex("0000000000000010", "0000000000000000", "0000000000000000", "FFFFFFFFFFFFFFFF")));

        assertThat(stream.onlyOutput().octets())
                .hasSize(30)
                .isEqualTo(hex("41 4B", ZERO, "00000003", "00000001", ZERO, "CAFEBABE", "1122334455667788"));
        assertThat(TestMemory.getWord(region, 8)).isEqualTo(0x1122334455667798L);
        assertThat(stream.completions().isEmpty()).isTrue();
    }

    @Test
    @Requirement({"EXT-5.1.2-01", "EXT-5.2.1-02", "EXT-5.2.2-01"})
    void aCompareAndSwapReturnsWhatItFoundWhetherItSwapsOrNot() {
        TestMemory.putWord(region, 0, BEFORE);

        stream.input(
                compareSwap(1, 7, region.stag(), 0, BEFORE + 1, 5), compareSwap(2, 8, region.stag(), 0, BEFORE, 6));

        assertThat(stream.output())
                .extracting(Segment::payload)
                .containsExactly(hex("00000007", "1122334455667788"), hex("00000008", "1122334455667788"));
        assertThat(TestMemory.getWord(region, 0)).isEqualTo(6);
    }

    @Test
    @Requirement({"EXT-5.1.1-01", "EXT-5.1.2-01"})
    void masksOfARequestAreUsed() {
        TestMemory.putWord(region, 0, -1L);

        stream.input(
                atomicRequest(
                        1, atomicRequestHeader(0, 1, region.stag(), 0, 0x0000000100000001L, 0x8000000080000000L, 9, 9)),
                atomicRequest(
                        2, atomicRequestHeader(2, 2, region.stag(), 0, 0xABCDL, 0xFF00L, 0xFFFF_FFFF_0000_0000L, 0)));

        assertThat(stream.output())
                .extracting(Segment::payload)
                .containsExactly(hex("00000001", "FFFFFFFFFFFFFFFF"), hex("00000002", "0000000000000000"));
        assertThat(TestMemory.getWord(region, 0)).isEqualTo(0xAB00L);
    }

    @Test
    @Requirement("EXT-5.1.1-01")
    void theWordHasTheByteOrderOfThisMachine() {
        TestMemory.put(
                region,
                0,
                ByteBuffer.allocate(8)
                        .order(ByteOrder.nativeOrder())
                        .putLong(0xFFL)
                        .array());

        stream.input(fetchAdd(1, 1, region.stag(), 0, 1));

        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("00000001", "00000000000000FF"));
        assertThat(ByteBuffer.wrap(TestMemory.get(region, 0, 8))
                        .order(ByteOrder.nativeOrder())
                        .getLong())
                .isEqualTo(0x100L);
    }

    @Test
    @Requirement("EXT-4.1-01")
    void reservedFieldsOfARequestAreIgnored() {
        byte[] header = atomicRequestHeader(0xFFFFFFF0, 1, region.stag(), 0, 3, 0, 0x55, 0x66);

        stream.input(untagged(0x7D, 0x7A, 0xDEADBEEF, 1, 1, 0, header));

        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("00000001", "0000000000000000"));
        assertThat(TestMemory.getWord(region, 0)).isEqualTo(3);
    }

    @Test
    @Requirement({"EXT-5.2.2-01", "EXT-5.2.2-02"})
    void responsesComeInTheOrderOfTheRequestsAlsoAmongReads() {
        stream.wire().room(0);
        stream.input(
                readRequest(1, 21, 0, 2000, stream.region(2000).stag(), 0),
                fetchAdd(2, 0x22, region.stag(), 0, 1),
                readRequest(3, 23, 0, 8, region.stag(), 0),
                fetchAdd(4, 0x24, region.stag(), 0, 1));
        stream.wire().room(1);

        List<Segment> responses = stream.output();

        assertThat(responses).extracting(Segment::opcode).containsExactly(2, 2, 0xB, 2, 0xB);
        assertThat(responses.get(2).payload()).isEqualTo(hex("00000022", "0000000000000000"));
        assertThat(responses.get(2).msn()).isEqualTo(1);
        assertThat(responses.get(4).payload()).isEqualTo(hex("00000024", "0000000000000001"));
        assertThat(responses.get(4).msn()).isEqualTo(2);
    }

    @Test
    void anAtomicOperationSeesWhatWasWrittenBeforeIt() {
        for (int i = 1; i <= 50; i++) {
            byte[] word = ByteBuffer.allocate(8)
                    .order(ByteOrder.nativeOrder())
                    .putLong(i * 1000L)
                    .array();

            stream.input(write(region.stag(), 16, word), fetchAdd(i, i, region.stag(), 16, 1));

            assertThat(ByteBuffer.wrap(stream.onlyOutput().payload()).getLong(4))
                    .isEqualTo(i * 1000L);
        }
    }

    @Test
    @Requirement("EXT-5.2.2-01")
    void aRequestIsNotCarriedOutBeforeItIsDelivered() {
        byte[] header = atomicRequestHeader(0, 1, region.stag(), 0, 1, 0, 0, -1L);

        stream.input(untagged(0x01, 0x4A, 0, 1, 1, 0, header));
        assertThat(TestMemory.getWord(region, 0)).isZero();
        assertThat(stream.output()).isEmpty();
        stream.input(untagged(0x41, 0x4A, 0, 1, 1, 52, new byte[0]));

        assertThat(TestMemory.getWord(region, 0)).isEqualTo(1);
        assertThat(stream.output()).hasSize(1);
    }

    @Test
    @Requirement("EXT-5.2.2-02")
    void asManyReadsAndAtomicRequestsAsIrdAreTakenTogetherAndNoMore() {
        stream.wire().room(0);
        for (int i = 1; i <= IRD; i++) {
            stream.input(i % 2 == 0 ? fetchAdd(i, i, region.stag(), 0, 1) : readRequest(i, i, 0, 8, region.stag(), 8));
        }
        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);

        stream.input(fetchAdd(IRD + 1, 9, region.stag(), 0, 1));

        stream.wire().room(Integer.MAX_VALUE);
        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 07 C0 00 0046"));
        assertThat(TestMemory.getWord(region, 0)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 4, 7, 12})
    @Requirement({"EXT-5.1-01", "EXT-8-01"})
    void anAddressThatIsNotAlignedIsACatastrophicErrorOfTheStream(long to) {
        byte[] request = fetchAdd(1, 1, region.stag(), to, 1);

        stream.input(request);

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex("02 07 C0 00 0046", "41 4A", ZERO, "00000001", "00000001", ZERO));
        assertThat(TestMemory.get(region)).containsOnly(0);
        StreamError error = stream.stream().error();
        assertThat(error.definition()).contains(RdmapError.CATASTROPHIC_STREAM);
        assertThat(error.remote()).isFalse();
        assertThat(error.detail()).endsWith("the address is not aligned to 8 bytes");
    }

    @Test
    @Requirement("EXT-5.1-01")
    void alignmentIsThatOfTheAddressAndNotOfTheTaggedOffset() {
        MemoryRegion odd = stream.memory().region(3, 16, AccessRight.REMOTE_ATOMIC);

        stream.input(fetchAdd(1, 1, odd.stag(), 11, 1));
        assertThat(stream.output()).extracting(Segment::opcode).containsExactly(0xB);
        assertThat(TestMemory.getWord(odd, 8)).isEqualTo(1);

        stream.input(fetchAdd(2, 2, odd.stag(), 8, 1));
        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 07"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 8, 0xF})
    @Requirement({"EXT-5.2.1-02", "EXT-8-01"})
    void otherOperationCodesAreUnexpectedOpcodes(int operation) {
        TestMemory.putWord(region, 0, BEFORE);

        stream.input(atomicRequest(1, atomicRequestHeader(operation, 1, region.stag(), 0, 1, -1L, BEFORE, -1L)));

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex("02 06 C0 00 0046", "41 4A", ZERO, "00000001", "00000001", ZERO));
        assertThat(TestMemory.getWord(region, 0)).isEqualTo(BEFORE);
    }

    @ParameterizedTest
    @ValueSource(ints = {28, 51, 53})
    @Requirement({"EXT-5.2.1-01", "EXT-8-01"})
    void aRequestOfAnotherLengthIsAnError(int length) {
        stream.input(atomicRequest(1, new byte[length]));

        assertThat(stream.onlyOutput().payload()).startsWith(hex(length > 52 ? "12 05 C0 00" : "02 FF C0 00"));
    }

    static Stream<Arguments> accesses() {
        return Stream.of(
                Arguments.of("unknown STag", "01 00"),
                Arguments.of("no right", "01 02"),
                Arguments.of("another domain", "01 03"),
                Arguments.of("another stream", "01 03"),
                Arguments.of("behind the end", "01 01"),
                Arguments.of("over the end", "01 01"),
                Arguments.of("wrap", "01 04"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("accesses")
    @Requirement("EXT-8-01")
    void memoryThatMayNotBeUsedIsAnErrorWithoutAnRdmaHeader(String what, String error) {
        TestMemory memory = stream.memory();
        AccessRight atomic = AccessRight.REMOTE_ATOMIC;
        byte[] request = switch (what) {
            case "unknown STag" -> fetchAdd(1, 1, region.stag() ^ 0x55000000, 0, 1);
            case "no right" ->
                fetchAdd(
                        1,
                        1,
                        memory.region(8, AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE, AccessRight.LOCAL_WRITE)
                                .stag(),
                        0,
                        1);
            case "another domain" ->
                fetchAdd(1, 1, memory.region(new Pd(9), 0, 0, 8, atomic).stag(), 0, 1);
            case "another stream" ->
                fetchAdd(1, 1, memory.regionOf(99, 8, atomic).stag(), 0, 1);
            case "behind the end" -> fetchAdd(1, 1, region.stag(), 64, 1);
            case "over the end" -> fetchAdd(1, 1, memory.region(12, atomic).stag(), 8, 1);
            default -> fetchAdd(1, 1, region.stag(), -4L, 1);
        };

        stream.input(request);

        assertThat(stream.onlyOutput().payload())
                .isEqualTo(hex(error, "C0 00 0046", "41 4A", ZERO, "00000001", "00000001", ZERO));
    }

    @Test
    @Requirement("EXT-8-01")
    void queueSequenceAndVersionsOfARequestAreChecked() {
        byte[] header = atomicRequestHeader(0, 1, region.stag(), 0, 1, 0, 0, -1L);
        assertRefused("12 01", untagged(0x41, 0x4A, 0, 0, 1, 0, header));
        assertRefused("12 03", untagged(0x41, 0x4A, 0, 1, 2, 0, header));
        assertRefused("12 04", untagged(0x41, 0x4A, 0, 1, 1, 53, header));
        assertRefused("12 06", untagged(0x40, 0x4A, 0, 1, 1, 0, header));
        assertRefused("02 05", untagged(0x41, 0x8A, 0, 1, 1, 0, header));
        assertThat(TestMemory.getWord(region, 0)).isZero();
    }

    private static void assertRefused(String error, byte[] ulpdu) {
        try (LoneStream other = new LoneStream()) {
            other.endpoint().receive(1).with(other.region(100)).post();
            other.input(ulpdu);
            assertThat(other.onlyOutput().payload()).startsWith(hex(error, "C0 00"));
        }
    }

    @Test
    @Requirement("EXT-8-01")
    void aPeerWithoutTheExtensionFindsAnUnexpectedOpcodeAndNoQueue3() {
        try (LoneStream without = new LoneStream(EndpointOptions.defaults().extensions(false))) {
            without.input(fetchAdd(1, 1, without.region(8).stag(), 0, 1));

            assertThat(without.onlyOutput().payload())
                    .isEqualTo(hex("02 06 C0 00 0046", "41 4A", ZERO, "00000001", "00000001", ZERO));
        }
        try (LoneStream without = new LoneStream(EndpointOptions.defaults().extensions(false))) {
            without.input(untagged(0x41, 0x4B, 0, 3, 1, 0, new byte[12]));

            assertThat(without.onlyOutput().payload()).startsWith(hex("12 01 C0 00 001E"));
        }
    }

    @Test
    void aSendIsDeliveredWhileAnAtomicResponseWaits() {
        stream.endpoint().receive(1).with(stream.region(8)).post();
        stream.wire().room(0);

        stream.input(fetchAdd(1, 1, region.stag(), 0, 1), send(1, hex("01")));

        assertThat(stream.completions().receiveIds()).containsExactly(1L);
        stream.wire().room(Integer.MAX_VALUE);
        assertThat(stream.onlyOutput().opcode()).isEqualTo(RdmapControl.ATOMIC_RESPONSE);
    }

    @Test
    void countersCountAtomicOperations() {
        stream.endpoint().fetchAdd(1, 1).remote(1, 0).post();
        stream.input(fetchAdd(1, 1, region.stag(), 0, 1));
        stream.output();

        assertThat(stream.stream().counters().atomicsSent()).isEqualTo(1);
        assertThat(stream.stream().counters().atomicsServed()).isEqualTo(1);
        assertThat(stream.stream().counters().readsSent()).isZero();
        assertThat(stream.stream().counters().octetsSent()).isZero();
    }

    @Test
    @Timeout(120)
    @Requirement("EXT-5.3-01")
    void additionsOfSixteenStreamsOnSixteenThreadsAllCount() throws InterruptedException {
        int streams = 16;
        int additions = 100_000;
        try (TestMemory memory = new TestMemory()) {
            MemoryRegion counter = memory.region(8);
            List<Thread> threads = new ArrayList<>();
            for (int i = 1; i <= streams; i++) {
                EndpointOptions options =
                        EndpointOptions.defaults().memory(memory).queuePair(i).reads(64, 0);
                threads.add(Thread.ofPlatform().start(() -> add(options, counter, additions)));
            }
            for (Thread thread : threads) {
                thread.join();
            }

            assertThat(TestMemory.getWord(counter, 0)).isEqualTo((long) streams * additions);
        }
    }

    private static void add(EndpointOptions options, MemoryRegion counter, int additions) {
        try (LoneStream one = new LoneStream(options)) {
            for (int i = 1; i <= additions; i++) {
                one.input(fetchAdd(i, i, counter.stag(), 0, 1));
                if (i % 50 == 0) {
                    one.output();
                }
            }
        }
    }
}
