// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory: a backing that peers and work requests may use through an STag. {@link MemoryManager} makes and
 * ends regions. Thread-safe; copies of the same bytes are not ordered against each other.
 *
 * <p>{@link #place}, {@link #fetch}, {@link #isValid} and {@link #allows} are on the data path: no lock, no allocation
 * unless they fail.
 */
public final class MemoryRegion {

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(MemoryRegion.class, "state", RegionState.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int KEY_MASK = (1 << StagTable.KEY_BITS) - 1;

    private final long baseTaggedOffset;
    private final long length;
    private final long queuePair;
    private final int accessBits;
    private final Set<AccessRight> access;
    private final ProtectionDomain protectionDomain;
    private final RegionBacking backing;
    private final MemorySegment segment;
    private final CompletableFuture<Void> released = new CompletableFuture<>();
    private final AtomicInteger expectedEnables = new AtomicInteger();

    private volatile int stag;
    private volatile RegionState state = RegionState.VALID;
    private boolean faulted;
    private @Nullable Consumer<MemoryRegion> faultListener;

    MemoryRegion(
            int stag,
            ProtectionDomain protectionDomain,
            RegionBacking backing,
            RegionAttributes attributes,
            long queuePair) {
        this.stag = stag;
        this.protectionDomain = protectionDomain;
        this.backing = backing;
        this.segment = backing.segment();
        this.length = backing.length();
        this.access = attributes.access();
        this.accessBits = AccessRight.mask(access);
        this.baseTaggedOffset = attributes.baseTaggedOffset();
        this.queuePair = queuePair;
    }

    /** The STag of this moment; another key makes another one ({@link #enable}). */
    public int stag() {
        return stag;
    }

    /** The STag that the region has after {@link #enable} with a key of 8 bits. */
    public int stagWithKey(int key) {
        return stag & ~KEY_MASK | key & KEY_MASK;
    }

    /** Tagged offset of the first byte, unsigned. */
    public long baseTaggedOffset() {
        return baseTaggedOffset;
    }

    /** Bytes, at least 1. */
    public long length() {
        return length;
    }

    public ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    public Set<AccessRight> access() {
        return access;
    }

    /** Whether all the given rights ({@link AccessRight#bit()}) are granted. */
    public boolean allows(int bits) {
        return (accessBits & bits) == bits;
    }

    /** The only queue pair that may use the region, or 0 for all of the domain. */
    public long queuePair() {
        return queuePair;
    }

    public RegionState state() {
        return state;
    }

    public boolean isValid() {
        return state == RegionState.VALID;
    }

    /** Path in the shared volume, or empty for managed memory. */
    public String path() {
        return backing.path();
    }

    /**
     * The memory itself, for system calls and for providers. It becomes inaccessible (IllegalStateException) when the
     * region is deregistered.
     *
     * <p>Java code touches it through {@link #place} and {@link #fetch} only. A shared file may be truncated at any time;
     * elsewhere the error would surface late, and in native code or an intrinsic of the virtual machine (a checksum, a
     * comparison) it would end the process.
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Copies bytes into the region. The caller has checked state, rights and bounds.
     *
     * @param offset bytes from the beginning of the region
     * @throws RegionFault when the backing is gone; the region is FAULTED or DEREGISTERED then, and some of the bytes
     *     may have been copied
     * @throws IndexOutOfBoundsException for a range outside of the region or the buffer
     */
    public void place(long offset, WireBuffer source, int sourceOffset, int octets) throws RegionFault {
        copy(source.segment(), sourceOffset, segment, offset, octets);
    }

    /** Copies bytes from any memory into the region; otherwise as {@link #place(long, WireBuffer, int, int)}. */
    public void place(long offset, MemorySegment source, long sourceOffset, long octets) throws RegionFault {
        copy(source, sourceOffset, segment, offset, octets);
    }

    /**
     * Copies bytes out of the region. The caller has checked state, rights and bounds.
     *
     * @param offset bytes from the beginning of the region
     * @throws RegionFault when the backing is gone; the region is FAULTED or DEREGISTERED then, and what was copied is
     *     undefined
     * @throws IndexOutOfBoundsException for a range outside of the region or the buffer
     */
    public void fetch(long offset, WireBuffer target, int targetOffset, int octets) throws RegionFault {
        copy(segment, offset, target.segment(), targetOffset, octets);
    }

    /** Copies bytes of the region into any memory; otherwise as {@link #fetch(long, WireBuffer, int, int)}. */
    public void fetch(long offset, MemorySegment target, long targetOffset, long octets) throws RegionFault {
        copy(segment, offset, target, targetOffset, octets);
    }

    private void copy(MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long octets)
            throws RegionFault {
        try {
            MemorySegment.copy(source, sourceOffset, target, targetOffset, octets);
            LateFaults.raisePending();
        } catch (InternalError | IllegalStateException e) {
            throw fault(e);
        }
    }

    /** Whether the memory at an offset is aligned to 64 bits, whatever the region's tagged offsets are. */
    public boolean isWordAligned(long offset) {
        return (segment.address() + offset) % Long.BYTES == 0;
    }

    /** Loads 64 bits in the byte order of this machine; otherwise as {@link #fetch}. */
    public long loadWord(long offset) throws RegionFault {
        try {
            long word = segment.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
            LateFaults.raisePending();
            return word;
        } catch (InternalError | IllegalStateException e) {
            throw fault(e);
        }
    }

    /** Stores 64 bits in the byte order of this machine; otherwise as {@link #place}. */
    public void storeWord(long offset, long word) throws RegionFault {
        try {
            segment.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, word);
            LateFaults.raisePending();
        } catch (InternalError | IllegalStateException e) {
            throw fault(e);
        }
    }

    /**
     * Makes the STag unusable, by the peer's request or the application's. A copy that another thread has begun may still
     * end; only {@link MemoryManager#deregister} waits for it.
     *
     * @return true if it was valid
     */
    public boolean invalidate() {
        return STATE.compareAndSet(this, RegionState.VALID, RegionState.INVALIDATED);
    }

    /**
     * Gives the region an STag with another key and makes it usable again after an invalidation. What still knows the
     * STag so far has no access by it. Only for a region of one queue pair, on the event loop that owns it: on others
     * somebody might still be using the STag so far.
     *
     * @param key 8 bits
     * @return false when the region failed or was given back
     */
    public boolean enable(int key) {
        invalidate();
        stag = stagWithKey(key);
        return STATE.compareAndSet(this, RegionState.INVALIDATED, RegionState.VALID);
    }

    /**
     * A work request that will enable it is posted, so that work behind that one may name it already. Each is to be
     * followed by one {@link #endExpectedEnable}.
     */
    public void expectEnable() {
        expectedEnables.incrementAndGet();
    }

    /** A work request that was to enable it was carried out or flushed. */
    public void endExpectedEnable() {
        expectedEnables.decrementAndGet();
    }

    /** Whether it is valid, or was invalidated and will be enabled by work that was posted. */
    public boolean isValidOrExpected() {
        if (isValid()) {
            return true;
        }
        // The count comes first: it goes down behind the step to VALID, so who finds it down sees that step.
        boolean expected = expectedEnables.get() > 0;
        RegionState current = state;
        return current == RegionState.VALID || current == RegionState.INVALIDATED && expected;
    }

    /** Leaves a file that the region took over to the next region, with its content, when this one is given back. */
    public void keepContent() {
        backing.keepContent();
    }

    /**
     * Whether the backing can still be touched everywhere. Asks the operating system: not for the data path.
     */
    public boolean verifyBacking() {
        return backing.verify();
    }

    /** Takes the region out of use because its backing failed, and tells the listener. Idempotent. */
    public void markFaulted() {
        Consumer<MemoryRegion> listener;
        synchronized (this) {
            if (!advance(RegionState.FAULTED)) {
                return;
            }
            faulted = true;
            listener = faultListener;
        }
        if (listener != null) {
            listener.accept(this);
        }
    }

    /**
     * Sets who is told, at most once and on any thread, that the backing failed. Told at once when it failed before. A
     * region without failure never calls.
     */
    public void setFaultListener(Consumer<MemoryRegion> listener) {
        synchronized (this) {
            if (faultListener != null) {
                throw new IllegalStateException("the region has a fault listener already");
            }
            faultListener = listener;
            if (!faulted) {
                return;
            }
        }
        listener.accept(this);
    }

    /** First step of deregistration. True for the first caller only. */
    boolean beginRelease() {
        return advance(RegionState.DEREGISTERED);
    }

    /** Complete when the region is deregistered and its backing released. */
    CompletableFuture<Void> released() {
        return released;
    }

    RegionBacking backing() {
        return backing;
    }

    /** States only ever advance, but for {@link #enable}; a fault replaces an invalidation and not the reverse. */
    private boolean advance(RegionState next) {
        while (true) {
            RegionState current = state;
            if (current.ordinal() >= next.ordinal()) {
                return false;
            }
            if (STATE.compareAndSet(this, current, next)) {
                return true;
            }
        }
    }

    private RegionFault fault(Throwable cause) {
        markFaulted();
        return new RegionFault(this, describe(cause));
    }

    private String describe(Throwable cause) {
        if (state == RegionState.DEREGISTERED) {
            return "the region was deregistered while it was in use";
        }
        return path().isEmpty()
                ? "the region's memory failed: " + cause.getMessage()
                : "the shared file " + path() + " no longer backs its region (truncated?); keep its length while it is"
                        + " registered";
    }

    @Override
    public String toString() {
        return "region 0x%08x (%d octets, %s)".formatted(stag, length, state);
    }
}
