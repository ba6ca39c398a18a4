// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.memory.MemoryRegion;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One work request. The caller fills it, and posting copies it. One instance serves any number of posts without
 * allocation. Not thread-safe.
 */
public final class Wr {

    /** Scatter/gather elements that a work request can carry. */
    public static final int MAX_SGE = 16;

    /** Maximum length of a message in bytes (RFC 5041 section 5.2). */
    public static final long MAX_LENGTH = 0xFFFF_FFFFL;

    private final MemoryRegion[] regions = new MemoryRegion[MAX_SGE];
    private final long[] offsets = new long[MAX_SGE];
    private final long[] lengths = new long[MAX_SGE];
    private int sgeCount;
    private long length;

    private long id;
    private WrOpcode opcode = WrOpcode.SEND;
    private int remoteStag;
    private long remoteTaggedOffset;
    private boolean solicited;
    private boolean fence;
    private boolean localFence;
    private boolean signaled = true;
    private boolean flush;
    private boolean invalidate;
    private int invalidateStag;
    private long immediate;
    private long operand;
    private long operandMask;
    private long compare;
    private long compareMask;
    private @Nullable MemoryRegion subject;
    private int key;

    /** Clears all fields and begins a new request. */
    public Wr reset(long newId, WrOpcode newOpcode) {
        for (int i = 0; i < sgeCount; i++) {
            regions[i] = null;
        }
        sgeCount = 0;
        length = 0;
        id = newId;
        opcode = newOpcode;
        remoteStag = 0;
        remoteTaggedOffset = 0;
        solicited = false;
        fence = false;
        localFence = false;
        signaled = true;
        flush = false;
        invalidate = false;
        invalidateStag = 0;
        immediate = 0;
        operand = 0;
        operandMask = 0;
        compare = 0;
        compareMask = 0;
        subject = null;
        key = 0;
        return this;
    }

    /**
     * Adds a part of a local region.
     *
     * @param offset bytes from the beginning of the region
     * @param octets length of the part
     * @throws IllegalStateException beyond {@link #MAX_SGE} elements
     */
    public Wr addSge(MemoryRegion region, long offset, long octets) {
        if (sgeCount == MAX_SGE) {
            throw new IllegalStateException("a work request takes at most " + MAX_SGE + " scatter/gather elements");
        }
        regions[sgeCount] = Objects.requireNonNull(region);
        offsets[sgeCount] = offset;
        lengths[sgeCount] = octets;
        sgeCount++;
        length += octets;
        return this;
    }

    /**
     * Sets the peer's memory for RDMA Write, RDMA Read and atomic operations. Atomic operations need 8 aligned bytes.
     */
    public Wr remote(int stag, long taggedOffset) {
        remoteStag = stag;
        remoteTaggedOffset = taggedOffset;
        return this;
    }

    /** Sets Solicited Event for a Send or Immediate Data. */
    public Wr solicited(boolean value) {
        solicited = value;
        return this;
    }

    /** Waits until all RDMA Reads and atomic operations posted earlier are complete (RFC 5040 Appendix B). */
    public Wr fence(boolean value) {
        fence = value;
        return this;
    }

    /** Waits until all earlier posted work is complete and no longer uses local memory. */
    public Wr localFence(boolean value) {
        localFence = value;
        return this;
    }

    /**
     * Sets the region of LOCAL_INVALIDATE. Only this queue pair may use that region. LOCAL_INVALIDATE and ENABLE wait
     * for earlier Reads and atomic operations whose results go to their region.
     */
    public Wr invalidate(MemoryRegion region) {
        subject = Objects.requireNonNull(region);
        return this;
    }

    /**
     * Sets the region of ENABLE. Only this queue pair may use that region. Its new STag is
     * {@link MemoryRegion#stagWithKey}. Work that is posted after this request may use the new STag.
     *
     * @param newKey key of 8 bits, preferably a different key each time
     */
    public Wr enable(MemoryRegion region, int newKey) {
        subject = Objects.requireNonNull(region);
        key = newKey;
        return this;
    }

    /** Sets whether the work makes a completion when it succeeds. Failures always make a completion. */
    public Wr signaled(boolean value) {
        signaled = value;
        return this;
    }

    /**
     * Sets whether the work completes only when the peer's RDMA layer has placed this work and all earlier work. The
     * effect is that of a {@link WrOpcode#FLUSH} after the work. Reads and atomic operations always do this. Local work
     * takes no flush.
     */
    public Wr flush(boolean value) {
        flush = value;
        return this;
    }

    /** Makes the request a Send with Invalidate and sets the peer's STag to invalidate. */
    public Wr invalidateStag(int stag) {
        invalidate = true;
        invalidateStag = stag;
        return this;
    }

    /** Sets the 8 bytes of Immediate Data. The most significant byte is sent first. */
    public Wr immediate(long data) {
        immediate = data;
        return this;
    }

    /**
     * Sets the value that FETCH_ADD adds.
     *
     * @param mask most significant bit of each field that is added on its own; 0 for one field of 64 bits
     */
    public Wr add(long value, long mask) {
        operand = value;
        operandMask = mask;
        return this;
    }

    /**
     * Sets the values that COMPARE_SWAP compares and stores.
     *
     * @param mask bits that must be equal; 0 swaps unconditionally
     * @param swapMask bits that are replaced
     */
    public Wr compareSwap(long value, long mask, long swap, long swapMask) {
        compare = value;
        compareMask = mask;
        operand = swap;
        operandMask = swapMask;
        return this;
    }

    public long id() {
        return id;
    }

    public WrOpcode opcode() {
        return opcode;
    }

    public int sgeCount() {
        return sgeCount;
    }

    public MemoryRegion region(int index) {
        return regions[Objects.checkIndex(index, sgeCount)];
    }

    public long offset(int index) {
        return offsets[Objects.checkIndex(index, sgeCount)];
    }

    public long length(int index) {
        return lengths[Objects.checkIndex(index, sgeCount)];
    }

    /** Bytes of all elements together. */
    public long length() {
        return length;
    }

    public int remoteStag() {
        return remoteStag;
    }

    public long remoteTaggedOffset() {
        return remoteTaggedOffset;
    }

    public boolean isSolicited() {
        return solicited;
    }

    public boolean isFence() {
        return fence;
    }

    public boolean isLocalFence() {
        return localFence;
    }

    public boolean isSignaled() {
        return signaled;
    }

    public boolean isFlush() {
        return flush;
    }

    /** Returns the region to invalidate or enable, or null. */
    public @Nullable MemoryRegion subject() {
        return subject;
    }

    /** Key of the new STag. */
    public int key() {
        return key;
    }

    public boolean isInvalidate() {
        return invalidate;
    }

    public int invalidateStag() {
        return invalidateStag;
    }

    public long immediate() {
        return immediate;
    }

    /** Value to add or to swap in. */
    public long operand() {
        return operand;
    }

    /** Field boundaries of an addition, or the bits that a swap replaces. */
    public long operandMask() {
        return operandMask;
    }

    public long compare() {
        return compare;
    }

    public long compareMask() {
        return compareMask;
    }
}
