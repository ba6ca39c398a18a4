// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static io.sidewarp.engine.testing.OwnMemory.PAGE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.engine.testing.OwnMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests regions over memory of a process, which is this process or a child. */
@Timeout(60)
class ProcessBackingTest {

    private static final int O_RDWR = 2;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final OwnMemory memory = new OwnMemory(4);

    @AfterEach
    void close() {
        memory.close();
    }

    private static MemoryRegion region(RegionBacking backing) {
        return new MemoryRegion(0x12345678, new Pd(1), backing, new RegionAttributes(Set.of(), 0), 0);
    }

    private static byte[] random(int length) {
        byte[] octets = new byte[length];
        new Random(length).nextBytes(octets);
        return octets;
    }

    private byte[] octets(long offset, long length) {
        return memory.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9, 64, 4096, 9000})
    void placesAndFetchesBytesOfTheProcess(int length) throws RegionFault {
        MemoryRegion region = region(memory.backing(100, 10_000));
        byte[] sent = random(length);

        region.place(3, WireBuffer.copyOf(sent), 0, length);
        assertThat(octets(103, length)).isEqualTo(sent);
        region.placeLast(500, WireBuffer.copyOf(sent), 0, length);
        assertThat(octets(600, length)).isEqualTo(sent);

        WireBuffer fetched = WireBuffer.allocate(length + 2);
        region.fetch(500, fetched, 1, length);
        assertThat(fetched.segment().asSlice(1, length).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(sent);
        assertThat(octets(0, 100)).containsOnly(0);
    }

    @Test
    void placesAndFetchesBytesOfTheHeap() throws RegionFault {
        MemoryRegion region = region(memory.backing(0, 3 * PAGE));
        byte[] sent = random(10_000);

        region.place(5, MemorySegment.ofArray(sent), 1, sent.length - 1);
        byte[] fetched = new byte[sent.length];
        region.fetch(5, MemorySegment.ofArray(fetched), 1, sent.length - 1);

        fetched[0] = sent[0];
        assertThat(fetched).isEqualTo(sent);
        assertThat(octets(0, 5)).containsOnly(0);
    }

    @Test
    void touchesNothingOutsideOfTheRegion() {
        MemoryRegion region = region(memory.backing(PAGE, 16));
        WireBuffer buffer = WireBuffer.allocate(32);

        for (long offset : new long[] {-1, 16, 17, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> region.place(offset, buffer, 0, 1));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> region.placeLast(offset, buffer, 0, 1));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> region.fetch(offset, buffer, 0, 1));
        }
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.loadWord(9));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.place(0, buffer, 24, 9));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.fetch(0, buffer, 24, 9));
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void wordsAreLoadedAndStored() throws RegionFault {
        MemoryRegion region = region(memory.backing(4, 1000));
        assertThat(region.isWordAligned(0)).isFalse();
        assertThat(region.isWordAligned(4)).isTrue();

        region.storeWord(4, 0x1122334455667788L);

        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(0x1122334455667788L);
        assertThat(new AtomicUnit().fetchAdd(region, 4, 1, 0)).isEqualTo(0x1122334455667788L);
        assertThat(region.loadWord(4)).isEqualTo(0x1122334455667789L);
    }

    @Test
    void anUnmappedPageIsAFaultThatNamesTheAddress() {
        MemoryRegion region = region(memory.backing(0, 4 * PAGE));
        List<MemoryRegion> told = new ArrayList<>();
        region.setFaultListener(told::add);
        memory.unmap(2);
        byte[] sent = random((int) (4 * PAGE));

        assertThatExceptionOfType(RegionFault.class)
                .isThrownBy(() -> region.placeLast(0, WireBuffer.copyOf(sent), 0, sent.length))
                .withMessage("the process has unmapped 0x%x; keep memory mapped until its region is deregistered"
                        .formatted(memory.segment().address() + 2 * PAGE));

        assertThat(region.state()).isEqualTo(RegionState.FAULTED);
        assertThat(region.faultText()).contains("unmapped");
        assertThat(told).containsExactly(region);
        assertThat(octets(0, PAGE)).isEqualTo(Arrays.copyOf(sent, (int) PAGE));
        // The last bytes never come before others.
        assertThat(octets(3 * PAGE, PAGE)).containsOnly(0);
        assertThatExceptionOfType(RegionFault.class)
                .isThrownBy(() -> region.fetch(2 * PAGE - 1, WireBuffer.allocate(2), 0, 2))
                .withMessageContaining("unmapped");
        assertThatExceptionOfType(RegionFault.class).isThrownBy(() -> region.loadWord(2 * PAGE));
    }

    @Test
    void theRestOfAMessageIsPlacedBeforeItsLastBytes() {
        MemoryRegion region = region(memory.backing(0, 4 * PAGE));
        memory.unmap(1);
        byte[] sent = random((int) PAGE + 8);

        assertThatExceptionOfType(RegionFault.class)
                .isThrownBy(() -> region.placeLast(0, WireBuffer.copyOf(sent), 0, sent.length));

        assertThat(octets(0, PAGE)).isEqualTo(Arrays.copyOf(sent, (int) PAGE));
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 64, 4096, 16_000})
    void whoSeesTheLastBytesSeesAllOthers(int length) throws Exception {
        MemoryRegion region = region(memory.backing(0, 4 * PAGE));
        MemorySegment segment = memory.segment();
        long last = (long) length - Long.BYTES;
        int rounds = 20_000;
        AtomicLong seen = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        AtomicBoolean stop = new AtomicBoolean();
        Thread application = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                long number = (long) LONG.getAcquire(segment, last);
                // Later messages may be there already, but no earlier one.
                if (number != 0
                        && ((long) LONG.getAcquire(segment, 0L) < number
                                || (long) LONG.getAcquire(segment, last - 8) < number)) {
                    wrong.incrementAndGet();
                }
                seen.set(number);
            }
        });
        WireBuffer buffer = WireBuffer.allocate(length);
        for (long number = 1; number <= rounds; number++) {
            for (int offset = 0; offset < length; offset += Long.BYTES) {
                buffer.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, number);
            }
            region.placeLast(0, buffer, 0, length);
        }
        while (seen.get() < rounds) {
            Thread.onSpinWait();
        }
        stop.set(true);
        application.join();

        assertThat(wrong).hasValue(0);
    }

    @Test
    void aProcessThatHasEndedIsAFault() throws Exception {
        Process child = new ProcessBuilder("sleep", "60").start();
        try (ProcessMemory process = ProcessMemory.takeOver(OwnMemory.open("/proc/" + child.pid() + "/mem", O_RDWR))) {
            MemoryRegion region = region(new ProcessBacking(process, stack(child.pid()), 64));
            region.place(0, WireBuffer.copyOf(random(64)), 0, 64);
            WireBuffer fetched = WireBuffer.allocate(64);
            region.fetch(0, fetched, 0, 64);
            assertThat(fetched.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(random(64));
            assertThat(region.verifyBacking()).isTrue();

            child.destroyForcibly().waitFor(10, TimeUnit.SECONDS);

            assertThat(region.verifyBacking()).isFalse();
            assertThatExceptionOfType(RegionFault.class)
                    .isThrownBy(() -> region.fetch(0, fetched, 0, 64))
                    .withMessageContaining("has ended");
            assertThatExceptionOfType(RegionFault.class)
                    .isThrownBy(() -> region.placeLast(0, fetched, 0, 64))
                    .withMessageContaining("has ended");
            assertThat(region.state()).isEqualTo(RegionState.FAULTED);
        } finally {
            child.destroyForcibly();
        }
    }

    /** Returns the lowest address of the stack of a process. */
    private static long stack(long pid) throws IOException {
        String line = Files.readAllLines(Path.of("/proc/" + pid + "/maps")).stream()
                .filter(text -> text.endsWith("[stack]"))
                .findAny()
                .orElseThrow();
        return Long.parseUnsignedLong(line.substring(0, line.indexOf('-')), 16);
    }

    @ParameterizedTest
    @CsvSource({
        "0x1000, 0, length of at least 1",
        "0x1000, -1, length of at least 1",
        "-4096, 4096, exceeds 2^47",
        "0x7fffffffffff, 2, exceeds 2^47",
        "0x800000000000, 1, exceeds 2^47",
        "1, 0x7fffffffffffffff, exceeds 2^47"
    })
    void refusesRangesThatNoProcessHas(String address, String length, String reason) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ProcessBacking(memory.process(), Long.decode(address), Long.decode(length)))
                .withMessageContaining(reason);
    }

    @Test
    void takesTheLastAddress() {
        new ProcessBacking(memory.process(), (1L << 47) - 1, 1).close();
    }

    @ParameterizedTest
    @CsvSource({"/proc/self/maps, 0", "/dev/null, 2", "/proc/self/mem, 0", "/proc/self/oom_score_adj, 2"})
    void refusesDescriptorsOfOtherFiles(String path, int flags) {
        int descriptor = OwnMemory.open(path, flags);

        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() -> ProcessMemory.takeOver(descriptor))
                .withMessageContaining("pass one of /proc/self/mem, opened with O_RDWR")
                .extracting(RegionException::reason)
                .isEqualTo(RegionException.Reason.NOT_PROCESS_MEMORY);
        assertThat(isOpen(descriptor)).isFalse();
    }

    @Test
    void theDescriptorClosesWithItsLastUser() {
        int descriptor = OwnMemory.open("/proc/self/mem", O_RDWR);
        ProcessMemory process = ProcessMemory.takeOver(descriptor);
        ProcessBacking first = new ProcessBacking(process, 4096, 1);
        ProcessBacking second = new ProcessBacking(process, 4096, 1);

        process.close();
        process.close();
        assertThatIllegalStateException().isThrownBy(() -> new ProcessBacking(process, 4096, 1));
        first.close();
        first.close();
        assertThat(isOpen(descriptor)).isTrue();

        second.close();
        assertThat(isOpen(descriptor)).isFalse();
        assertThat(second.verify()).isFalse();
    }

    private static boolean isOpen(int descriptor) {
        return Files.exists(Path.of("/proc/self/fd/" + descriptor), LinkOption.NOFOLLOW_LINKS);
    }

    @Test
    void aCopyAfterTheReleaseIsAFaultOfTheRegion() {
        ProcessBacking backing = memory.backing(0, 16);
        MemoryRegion region = region(backing);
        region.beginRelease();
        backing.close();

        assertThatExceptionOfType(RegionFault.class)
                .isThrownBy(() -> region.place(0, WireBuffer.allocate(1), 0, 1))
                .withMessageContaining("deregistered");
    }

    @Test
    void hasNoSegment() {
        MemoryRegion region = region(memory.backing(0, 16));

        assertThat(region.isOfProcess()).isTrue();
        assertThat(region.path()).isEmpty();
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(region::segment)
                .withMessageContaining("use a file of the shared volume");
    }

    @Test
    void aDeviceWithItsOwnRegistrationRefusesIt() {
        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() -> DeviceRegions.checkMapped(memory.backing(0, 16)))
                .withMessageContaining("sidewarp.provider=software")
                .extracting(RegionException::reason)
                .isEqualTo(RegionException.Reason.UNSUPPORTED);
    }
}
