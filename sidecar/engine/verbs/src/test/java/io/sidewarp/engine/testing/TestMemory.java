// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.AtomicUnit;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryManager;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionBacking;
import io.sidewarp.engine.memory.StagTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The registered memory of one node: regions of managed memory, revoked at once. */
public final class TestMemory implements AutoCloseable {

    /** All rights that a region shared by several streams can have. */
    private static final AccessRight[] ALL = {
        AccessRight.LOCAL_WRITE, AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE, AccessRight.REMOTE_ATOMIC
    };

    private static final int MOST_REGIONS = 100_000;

    private final StagTable stags = new StagTable(MOST_REGIONS);
    private final MemoryManager manager = new MemoryManager(stags, () -> CompletableFuture.completedFuture(null));
    private final Pd protectionDomain = new Pd(1);
    private final AtomicUnit atomics = new AtomicUnit();

    public StagTable stags() {
        return stags;
    }

    public MemoryManager manager() {
        return manager;
    }

    /** Carries out the atomic operations of all streams of the node. */
    public AtomicUnit atomics() {
        return atomics;
    }

    /** The domain of the regions that are registered without naming one. */
    public Pd protectionDomain() {
        return protectionDomain;
    }

    /** A region with all rights but remote invalidation and tagged offsets from 0 on. */
    public MemoryRegion region(int length) {
        return region(length, ALL);
    }

    /** A region of the domain with tagged offsets from 0 on. */
    public MemoryRegion region(int length, AccessRight... rights) {
        return region(0, length, rights);
    }

    /** A region of the domain. */
    public MemoryRegion region(long baseTaggedOffset, int length, AccessRight... rights) {
        return region(protectionDomain, 0, baseTaggedOffset, length, rights);
    }

    /** A region of one stream. */
    public MemoryRegion regionOf(long queuePair, int length, AccessRight... rights) {
        return region(protectionDomain, queuePair, 0, length, rights);
    }

    /** Any region. */
    public MemoryRegion region(Pd domain, long queuePair, long baseTaggedOffset, int length, AccessRight... rights) {
        return register(domain, queuePair, baseTaggedOffset, ManagedBacking.allocate(length), rights);
    }

    /** A region over any backing. */
    public MemoryRegion register(
            Pd domain, long queuePair, long baseTaggedOffset, RegionBacking backing, AccessRight... rights) {
        return manager.register(
                domain, backing, new RegionAttributes(Set.copyOf(List.of(rights)), baseTaggedOffset), queuePair);
    }

    /** A region that holds the given octets. */
    public MemoryRegion regionWith(byte[] octets) {
        MemoryRegion region = region(octets.length);
        put(region, 0, octets);
        return region;
    }

    /** Writes into a region as its application would. */
    public static void put(MemoryRegion region, long offset, byte[] octets) {
        MemorySegment.copy(octets, 0, region.segment(), ValueLayout.JAVA_BYTE, offset, octets.length);
    }

    /** Reads from a region as its application would. */
    public static byte[] get(MemoryRegion region, long offset, int length) {
        return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** All octets of a region. */
    public static byte[] get(MemoryRegion region) {
        return get(region, 0, (int) region.length());
    }

    /** Writes a word into a region as its application would. */
    public static void putWord(MemoryRegion region, long offset, long word) {
        region.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, word);
    }

    /** Reads a word from a region as its application would. */
    public static long getWord(MemoryRegion region, long offset) {
        return region.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    /** Gives a region back; it is gone when this returns. */
    public void deregister(MemoryRegion region) {
        manager.deregister(region).join();
    }

    @Override
    public void close() {
        for (MemoryRegion region : manager.regions()) {
            deregister(region);
        }
    }
}
