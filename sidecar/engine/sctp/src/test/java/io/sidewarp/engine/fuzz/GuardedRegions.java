// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryManager;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.TestMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Regions of every kind, and copies that reveal each byte that changed without permission. Executions reuse the same
 * regions one after the other, because registration costs more than an execution.
 */
final class GuardedRegions {

    /** Octets of each region. */
    static final int LENGTH = 4096;

    /** The stream's queue pair; regions of others are out of its reach. */
    static final long QUEUE_PAIR = 1;

    private static final long OTHER_QUEUE_PAIR = 99;

    /** Kinds of regions. */
    enum Kind {
        TARGET(0, 0, true, AccessRight.REMOTE_WRITE, AccessRight.LOCAL_WRITE),
        SOURCE(0x1000, 0, true, AccessRight.REMOTE_READ),
        /** At the very end of the tagged offsets, where sums wrap. */
        BOTH(
                -LENGTH,
                0,
                true,
                AccessRight.REMOTE_WRITE,
                AccessRight.REMOTE_READ,
                AccessRight.REMOTE_ATOMIC,
                AccessRight.LOCAL_WRITE),
        /** Receives and the sinks of reads. */
        LOCAL(0, 0, true, AccessRight.LOCAL_WRITE),
        OWN(7, QUEUE_PAIR, true, AccessRight.REMOTE_WRITE, AccessRight.REMOTE_INVALIDATE),
        OTHERS(0, OTHER_QUEUE_PAIR, true, AccessRight.values()),
        FOREIGN(0, QUEUE_PAIR, false, AccessRight.values()),
        NOTHING(0, 0, true);

        private final long base;
        private final long queuePair;
        private final boolean ownDomain;

        @SuppressWarnings("ImmutableEnumChecker") // Set.of gives immutable sets
        private final Set<AccessRight> rights;

        Kind(long base, long queuePair, boolean ownDomain, AccessRight... rights) {
            this.base = base;
            this.queuePair = queuePair;
            this.ownDomain = ownDomain;
            this.rights = Set.of(rights);
        }

        boolean isWritableByPeer() {
            return ownDomain && queuePair != OTHER_QUEUE_PAIR && rights.contains(AccessRight.REMOTE_WRITE);
        }

        static Kind of(int index) {
            return values()[Math.floorMod(index, values().length)];
        }
    }

    /** Permission for bytes to change at present. */
    interface Permission {

        /** Returns whether a byte of the local region may change because a receive or a read is outstanding there. */
        boolean local(int offset);
    }

    private static final List<Kind> KINDS = List.of(Kind.values());
    private static final byte[][] CONTENT =
            KINDS.stream().map(kind -> Octets.pattern(LENGTH, kind.ordinal())).toArray(byte[][]::new);

    private final TestMemory memory = new TestMemory();
    private final Pd foreign = new Pd(2);
    // Deregistration ends the region, but the backing stays for the next one.
    private final MemoryManager manager = new MemoryManager(memory.stags(), CompletableFuture::new);
    private final ManagedBacking[] backings = new ManagedBacking[KINDS.size()];
    private final MemorySegment[] shadows = new MemorySegment[KINDS.size()];
    private final MemoryRegion[] regions = new MemoryRegion[KINDS.size()];
    private final boolean[] wasValid = new boolean[KINDS.size()];

    GuardedRegions() {
        for (Kind kind : KINDS) {
            backings[kind.ordinal()] = ManagedBacking.allocate(LENGTH);
            shadows[kind.ordinal()] = MemorySegment.ofArray(new byte[LENGTH]);
            register(kind);
        }
    }

    private void register(Kind kind) {
        regions[kind.ordinal()] = manager.register(
                kind.ownDomain ? memory.protectionDomain() : foreign,
                backings[kind.ordinal()],
                new RegionAttributes(kind.rights, kind.base),
                kind.queuePair);
    }

    /** For an {@link Endpoint}. */
    TestMemory memory() {
        return memory;
    }

    MemoryRegion get(Kind kind) {
        return regions[kind.ordinal()];
    }

    /** Original content of a region. */
    static byte[] content(Kind kind) {
        return CONTENT[kind.ordinal()];
    }

    /** Makes everything as it was in the beginning. */
    void reset() {
        for (Kind kind : KINDS) {
            if (!get(kind).isValid()) {
                deregister(kind);
                register(kind);
            }
            MemorySegment.copy(CONTENT[kind.ordinal()], 0, segment(kind), ValueLayout.JAVA_BYTE, 0, LENGTH);
            shadows[kind.ordinal()].copyFrom(segment(kind));
        }
    }

    void invalidate(Kind kind) {
        get(kind).invalidate();
    }

    void deregister(Kind kind) {
        manager.deregister(get(kind));
    }

    /** Notes what is valid before something happens. */
    void before() {
        for (Kind kind : KINDS) {
            wasValid[kind.ordinal()] = get(kind).isValid();
        }
    }

    /** Compares with what was before; changes that were permitted are the new state. */
    void after(boolean placing, Permission permission) {
        for (Kind kind : KINDS) {
            MemorySegment now = segment(kind);
            MemorySegment shadow = shadows[kind.ordinal()];
            long at = now.mismatch(shadow);
            if (at < 0) {
                continue;
            }
            Violation.unless(placing, "memory changed after the stream had ended");
            Violation.unless(wasValid[kind.ordinal()], "memory of an invalid STag changed");
            if (!kind.isWritableByPeer()) {
                Violation.unless(kind == Kind.LOCAL, "memory without permission changed: " + kind);
                for (int i = (int) at; i < LENGTH; i++) {
                    boolean changed = now.get(ValueLayout.JAVA_BYTE, i) != shadow.get(ValueLayout.JAVA_BYTE, i);
                    Violation.unless(!changed || permission.local(i), "octet " + i + " outside of all buffers changed");
                }
            }
            shadow.copyFrom(now);
        }
    }

    private MemorySegment segment(Kind kind) {
        return backings[kind.ordinal()].segment();
    }
}
