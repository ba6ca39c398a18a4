// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.conformance.Requirement;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryRegionTest {

    private final Pd domain = new Pd(1);
    private final ManagedBacking memory = ManagedBacking.allocate(16);
    private final MemoryRegion region = region(memory);

    @AfterEach
    void free() {
        memory.close();
    }

    @Test
    void tellsWhatItWasRegisteredWith() {
        RegionAttributes attributes =
                new RegionAttributes(Set.of(AccessRight.REMOTE_READ, AccessRight.LOCAL_WRITE), -100);
        MemoryRegion other = new MemoryRegion(0x89ABCDEF, domain, memory, attributes, 42);

        assertThat(other.stag()).isEqualTo(0x89ABCDEF);
        assertThat(other.baseTaggedOffset()).isEqualTo(-100);
        assertThat(other.length()).isEqualTo(16);
        assertThat(other.protectionDomain()).isSameAs(domain);
        assertThat(other.queuePair()).isEqualTo(42);
        assertThat(other.access()).containsExactlyInAnyOrder(AccessRight.REMOTE_READ, AccessRight.LOCAL_WRITE);
        assertThat(other.path()).isEmpty();
        assertThat(other.state()).isEqualTo(RegionState.VALID);
        assertThat(other).hasToString("region 0x89abcdef (16 bytes, VALID)");
    }

    @Test
    void allowsOnlyWhatAllBitsAreGrantedFor() {
        MemoryRegion readable =
                new MemoryRegion(1, domain, memory, new RegionAttributes(Set.of(AccessRight.REMOTE_READ), 0), 0);

        assertThat(readable.allows(AccessRight.REMOTE_READ.bit())).isTrue();
        assertThat(readable.allows(AccessRight.REMOTE_WRITE.bit())).isFalse();
        assertThat(readable.allows(AccessRight.mask(AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE)))
                .isFalse();
        assertThat(readable.allows(0)).isTrue();
    }

    @Test
    void placesAndFetchesOctets() throws RegionFault {
        region.place(3, WireBuffer.copyOf(new byte[] {9, 1, 2, 3, 9}), 1, 3);
        WireBuffer target = WireBuffer.allocate(8);
        region.fetch(2, target, 1, 5);

        assertThat(target.segment().toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 0, 1, 2, 3, 0, 0, 0);
    }

    @Test
    void placesAndFetchesOctetsOfTheHeap() throws RegionFault {
        region.place(15, MemorySegment.ofArray(new byte[] {1, 2, 3}), 2, 1);
        byte[] target = new byte[2];
        region.fetch(14, MemorySegment.ofArray(target), 0, 2);

        assertThat(target).containsExactly(0, 3);
    }

    @Test
    @Requirement("RDMAP-8.1.1-03")
    void placesNothingOutsideOfItsOctets() {
        WireBuffer source = WireBuffer.allocate(32);

        for (long offset : new long[] {-1, 16, 17, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> region.place(offset, source, 0, 1));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> region.fetch(offset, source, 0, 1));
        }
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.place(0, source, 0, 17));
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void reachesBothEndsOfMoreThanTwoGibibytes(@TempDir Path directory) throws Exception {
        long length = (3L << 30) + 5;
        Path file = directory.resolve("large");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(length);
        }
        int root = LinuxFiles.openRoot(directory.toString());
        // Not through SharedVolume, which would give each page its memory.
        SharedVolume.Part part = new SharedVolume.Part("large", 0, length, LinuxFiles.pageSize());
        SharedBacking backing = new SharedBacking(part, LinuxFiles.openFile(root, "large"), null);
        LinuxFiles.close(root);
        MemoryRegion large = region(backing);

        large.place(0, WireBuffer.copyOf(new byte[] {1, 2}), 0, 2);
        large.place(length - 2, WireBuffer.copyOf(new byte[] {3, 4}), 0, 2);
        WireBuffer read = WireBuffer.allocate(4);
        large.fetch(0, read, 0, 2);
        large.fetch(length - 2, read, 2, 2);

        assertThat(large.length()).isEqualTo(length);
        assertThat(read.segment().toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3, 4);
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "r")) {
            assertThat(content.read()).isEqualTo(1);
            content.seek(length - 1);
            assertThat(content.read()).isEqualTo(4);
        }
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> large.fetch(length - 1, read, 0, 2));
        backing.close();
    }

    @Test
    void isInvalidatedOnce() {
        assertThat(region.invalidate()).isTrue();
        assertThat(region.invalidate()).isFalse();

        assertThat(region.isValid()).isFalse();
        assertThat(region.state()).isEqualTo(RegionState.INVALIDATED);
    }

    @Test
    void tellsItsListenerOnceThatItFailed() {
        List<MemoryRegion> told = new ArrayList<>();
        region.setFaultListener(told::add);

        region.markFaulted();
        region.markFaulted();

        assertThat(told).containsExactly(region);
        assertThat(region.state()).isEqualTo(RegionState.FAULTED);
    }

    @Test
    void tellsAListenerThatComesLateThatItFailed() {
        List<MemoryRegion> told = new ArrayList<>();
        region.markFaulted();

        region.setFaultListener(told::add);

        assertThat(told).containsExactly(region);
    }

    @Test
    void hasOneListener() {
        region.setFaultListener(failed -> {});

        assertThatIllegalStateException().isThrownBy(() -> region.setFaultListener(failed -> {}));
    }

    @Test
    void staysFaultedWhenItIsInvalidated() {
        region.markFaulted();

        assertThat(region.invalidate()).isFalse();
        assertThat(region.state()).isEqualTo(RegionState.FAULTED);
    }

    @Test
    void aDeregisteredRegionDoesNotFailAnyMore() {
        List<MemoryRegion> told = new ArrayList<>();
        region.setFaultListener(told::add);

        region.beginRelease();
        region.markFaulted();

        assertThat(told).isEmpty();
        assertThat(region.state()).isEqualTo(RegionState.DEREGISTERED);
    }

    @Test
    void aCopyAfterTheMemoryIsReleasedIsAFaultOfTheRegion() {
        region.beginRelease();
        memory.close();

        assertThatExceptionOfType(RegionFault.class)
                .isThrownBy(() -> region.place(0, WireBuffer.allocate(1), 0, 1))
                .withMessageContaining("deregistered")
                .satisfies(fault -> {
                    assertThat(fault.region()).isSameAs(region);
                    assertThat(fault.getStackTrace()).isEmpty();
                });
    }

    private MemoryRegion region(RegionBacking backing) {
        return new MemoryRegion(0x1234, domain, backing, new RegionAttributes(Set.of(), 0), 0);
    }
}
