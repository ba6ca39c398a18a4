// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sidewarp.engine.testing.OwnMemory;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataPathAllocationTest {

    private static final int OPERATIONS = 1_000_000;
    private static final int SYSTEM_CALLS = 50_000;

    @Test
    void lookupCheckPlaceAndFetchAllocateNothing(@TempDir Path directory) throws RegionFault {
        MemoryManager manager = new MemoryManager(new StagTable(100), () -> CompletableFuture.completedFuture(null));
        Pd domain = new Pd(1);
        RegionAttributes attributes =
                new RegionAttributes(Set.of(AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE), 1L << 40);
        SharedBacking backing = TestVolume.open(new SharedVolume(directory), "region", 0, 1 << 16, true);
        MemoryRegion region = manager.register(domain, backing, attributes, 0);
        WireBuffer buffer = WireBuffer.allocate(1500);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        run(manager.stags(), region, buffer, OPERATIONS);

        long before = threads.getCurrentThreadAllocatedBytes();
        long copied = run(manager.stags(), region, buffer, OPERATIONS);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(copied).isEqualTo(2L * OPERATIONS);
        // The compiler may still change its mind once; an object per operation would be 16 MB.
        assertThat(allocated).isLessThan(4096);
        manager.deregister(region).join();
    }

    @Test
    void memoryOfAProcessAllocatesNothing() throws RegionFault {
        try (OwnMemory memory = new OwnMemory(16)) {
            MemoryRegion region =
                    new MemoryRegion(1, new Pd(1), memory.backing(0, 1 << 16), new RegionAttributes(Set.of(), 0), 0);
            WireBuffer buffer = WireBuffer.allocate(1500);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            runInProcess(region, buffer, SYSTEM_CALLS);

            long before = threads.getCurrentThreadAllocatedBytes();
            runInProcess(region, buffer, SYSTEM_CALLS);
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;

            assertThat(allocated).isLessThan(4096);
        }
    }

    private static void runInProcess(MemoryRegion region, WireBuffer buffer, int operations) throws RegionFault {
        for (int i = 0; i < operations; i++) {
            int length = 1 + i % 1500;
            long offset = i % 60_000;
            region.place(offset, buffer, 0, length);
            region.placeLast(offset, buffer, 0, length);
            region.fetch(offset, buffer, 0, length);
            region.storeWord(offset, region.loadWord(offset) + 1);
        }
    }

    private static long run(StagTable stags, MemoryRegion registered, WireBuffer buffer, int operations)
            throws RegionFault {
        int stag = registered.stag();
        int bits = AccessRight.mask(AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE);
        RegionUser user = new RegionUser(registered.protectionDomain(), 1);
        long copied = 0;
        for (int i = 0; i < operations; i++) {
            int length = 1 + i % 1500;
            long offset = i % 60_000;
            MemoryRegion region = stags.lookup(stag);
            AccessCheck check = TaggedAccess.check(region, user, bits, registered.baseTaggedOffset() + offset, length);
            if (region != null && check == AccessCheck.OK) {
                region.place(offset, buffer, 0, length);
                region.fetch(offset, buffer, 0, length);
                copied += 2;
            }
        }
        return copied;
    }
}
