// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory: a backing that peers and work requests may use through an STag. {@link MemoryManager} registers
 * and deregisters regions. Thread-safe. Copies of the same bytes are not ordered against each other.
 *
 * <p>The data path uses {@link #place}, {@link #fetch}, {@link #isValid} and {@link #allows}. These methods take no
 * lock, and allocate nothing unless they fail.
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
    private final String peer;
    private final int accessBits;
    private final Set<AccessRight> access;
    private final Pd protectionDomain;
    private final RegionBacking backing;
    /** Memory of this process, or null for memory of another process. */
    private final @Nullable MemorySegment mapped;
    /** Memory of another process, or null. */
    private final @Nullable ProcessBacking process;

    private final CompletableFuture<Void> released = new CompletableFuture<>();
    private final AtomicInteger expectedEnables = new AtomicInteger();

    private volatile int stag;
    private volatile RegionState state = RegionState.VALID;
    private boolean faulted;
    private String faultText = "";
    private @Nullable Consumer<MemoryRegion> faultListener;

    MemoryRegion(int stag, Pd protectionDomain, RegionBacking backing, RegionAttributes attributes, long queuePair) {
        this.stag = stag;
        this.protectionDomain = protectionDomain;
        this.backing = backing;
        this.mapped = backing instanceof MappedBacking own ? own.segment() : null;
        this.process = backing instanceof ProcessBacking other ? other : null;
        this.length = backing.length();
        this.access = attributes.access();
        this.accessBits = AccessRight.mask(access);
        this.baseTaggedOffset = attributes.baseTaggedOffset();
        this.queuePair = queuePair;
        this.peer = attributes.peer();
    }

    /** Current STag. {@link #enable} with another key changes the STag. */
    public int stag() {
        return stag;
    }

    /** Returns the STag that the region has after {@link #enable} with a key of 8 bits. */
    public int stagWithKey(int key) {
        return stag & ~KEY_MASK | key & KEY_MASK;
    }

    /** Tagged offset of the first byte, unsigned. */
    public long baseTaggedOffset() {
        return baseTaggedOffset;
    }

    /** Length in bytes, at least 1. */
    public long length() {
        return length;
    }

    public Pd protectionDomain() {
        return protectionDomain;
    }

    public Set<AccessRight> access() {
        return access;
    }

    /** Returns whether all the given rights ({@link AccessRight#bit()}) are granted. */
    public boolean allows(int bits) {
        return (accessBits & bits) == bits;
    }

    /** The only queue pair that may use the region, or 0 for all queue pairs of the domain. */
    public long queuePair() {
        return queuePair;
    }

    /** Identity that the peer of a stream must have to use the region, or empty for all peers. */
    public String peer() {
        return peer;
    }

    public RegionState state() {
        return state;
    }

    public boolean isValid() {
        return state == RegionState.VALID;
    }

    /** Returns whether the memory belongs to another process. It has no {@link #segment} then. */
    public boolean isOfProcess() {
        return process != null;
    }

    /** Path in the shared volume, or empty for managed memory and for memory of another process. */
    public String path() {
        return backing.path();
    }

    /**
     * The memory itself, for system calls and for providers. The memory becomes inaccessible (IllegalStateException)
     * when the region is deregistered.
     *
     * <p>Java code must access the memory only through {@link #place} and {@link #fetch}. A shared file may be
     * truncated at any time. With any other access the error would surface late. In native code or an intrinsic of the
     * virtual machine (a checksum, a comparison) the error would end the process.
     *
     * @throws UnsupportedOperationException for memory of another process
     */
    public MemorySegment segment() {
        MemorySegment own = mapped;
        if (own == null) {
            throw new UnsupportedOperationException(this + " is memory of another process, which is not mapped here;"
                    + " use a file of the shared volume or managed memory");
        }
        return own;
    }

    /**
     * Copies bytes into the region. The caller has checked state, rights and bounds.
     *
     * @param offset bytes from the beginning of the region
     * @throws RegionFault when the backing is gone. The region is then FAULTED or DEREGISTERED, and some of the bytes
     *     may have been copied
     * @throws IndexOutOfBoundsException for a range outside the region or the buffer
     */
    public void place(long offset, WireBuffer source, int sourceOffset, int octets) throws RegionFault {
        MemorySegment own = mapped;
        if (own != null) {
            copy(source.segment(), sourceOffset, own, offset, octets);
        } else {
            placeInProcess(offset, source, sourceOffset, octets, false);
        }
    }

    /**
     * Copies the end of a message into the region. A process that sees the last byte of the message sees all of it.
     * See {@link #place(long, WireBuffer, int, int)}.
     */
    public void placeLast(long offset, WireBuffer source, int sourceOffset, int octets) throws RegionFault {
        MemorySegment own = mapped;
        if (own != null) {
            copy(source.segment(), sourceOffset, own, offset, octets);
        } else {
            placeInProcess(offset, source, sourceOffset, octets, true);
        }
    }

    /** Copies bytes from any memory into the region. See {@link #place(long, WireBuffer, int, int)}. */
    public void place(long offset, MemorySegment source, long sourceOffset, long octets) throws RegionFault {
        MemorySegment own = mapped;
        if (own != null) {
            copy(source, sourceOffset, own, offset, octets);
            return;
        }
        try {
            ofProcess().place(offset, source, sourceOffset, octets);
        } catch (ProcessBacking.AccessFailure | IllegalStateException e) {
            throw fault(e);
        }
    }

    /**
     * Copies bytes out of the region. The caller has checked state, rights and bounds.
     *
     * @param offset bytes from the beginning of the region
     * @throws RegionFault when the backing is gone. The region is then FAULTED or DEREGISTERED, and the copied bytes
     *     are undefined
     * @throws IndexOutOfBoundsException for a range outside the region or the buffer
     */
    public void fetch(long offset, WireBuffer target, int targetOffset, int octets) throws RegionFault {
        MemorySegment own = mapped;
        if (own != null) {
            copy(own, offset, target.segment(), targetOffset, octets);
        } else {
            fetchFromProcess(offset, target, targetOffset, octets);
        }
    }

    /** Copies bytes of the region into any memory. See {@link #fetch(long, WireBuffer, int, int)}. */
    public void fetch(long offset, MemorySegment target, long targetOffset, long octets) throws RegionFault {
        MemorySegment own = mapped;
        if (own != null) {
            copy(own, offset, target, targetOffset, octets);
            return;
        }
        try {
            ofProcess().fetch(offset, target, targetOffset, octets);
        } catch (ProcessBacking.AccessFailure | IllegalStateException e) {
            throw fault(e);
        }
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

    private void placeInProcess(long offset, WireBuffer source, int sourceOffset, int octets, boolean last)
            throws RegionFault {
        Objects.checkFromIndexSize(sourceOffset, octets, source.capacity());
        long address = source.segment().address() + sourceOffset;
        try {
            if (last) {
                ofProcess().placeLast(offset, address, octets);
            } else {
                ofProcess().place(offset, address, octets);
            }
        } catch (ProcessBacking.AccessFailure | IllegalStateException e) {
            throw fault(e);
        } finally {
            Reference.reachabilityFence(source);
        }
    }

    private void fetchFromProcess(long offset, WireBuffer target, int targetOffset, int octets) throws RegionFault {
        Objects.checkFromIndexSize(targetOffset, octets, target.capacity());
        try {
            ofProcess().fetch(offset, target.segment().address() + targetOffset, octets);
        } catch (ProcessBacking.AccessFailure | IllegalStateException e) {
            throw fault(e);
        } finally {
            Reference.reachabilityFence(target);
        }
    }

    private ProcessBacking ofProcess() {
        return Objects.requireNonNull(process);
    }

    /** Returns whether the memory at an offset is aligned to 64 bits. Tagged offsets of the region do not matter. */
    public boolean isWordAligned(long offset) {
        MemorySegment own = mapped;
        return own != null
                ? (own.address() + offset) % Long.BYTES == 0
                : ofProcess().isWordAligned(offset);
    }

    /** Loads 64 bits in the byte order of this machine. See {@link #fetch}. */
    public long loadWord(long offset) throws RegionFault {
        MemorySegment own = mapped;
        try {
            if (own == null) {
                return ofProcess().loadWord(offset);
            }
            long word = own.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
            LateFaults.raisePending();
            return word;
        } catch (ProcessBacking.AccessFailure | InternalError | IllegalStateException e) {
            throw fault(e);
        }
    }

    /** Stores 64 bits in the byte order of this machine. See {@link #place}. */
    public void storeWord(long offset, long word) throws RegionFault {
        MemorySegment own = mapped;
        try {
            if (own == null) {
                ofProcess().storeWord(offset, word);
                return;
            }
            own.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, word);
            LateFaults.raisePending();
        } catch (ProcessBacking.AccessFailure | InternalError | IllegalStateException e) {
            throw fault(e);
        }
    }

    /**
     * Makes the STag unusable, at the request of the peer or of the application. A copy that another thread has begun
     * may still continue. Only {@link MemoryManager#deregister} waits for the copy.
     *
     * @return true if the region was valid
     */
    public boolean invalidate() {
        return STATE.compareAndSet(this, RegionState.VALID, RegionState.INVALIDATED);
    }

    /**
     * Gives the region an STag with another key and makes the region usable again after an invalidation. The previous
     * STag no longer gives access. Only for a region of one queue pair, on the event loop that owns the queue pair. On
     * another thread, work might still be using the previous STag.
     *
     * @param key key of 8 bits
     * @return false when the region failed or was deregistered
     */
    public boolean enable(int key) {
        invalidate();
        stag = stagWithKey(key);
        return STATE.compareAndSet(this, RegionState.INVALIDATED, RegionState.VALID);
    }

    /**
     * Records that work which will enable the region is posted. Later work may then name the region already. Each call
     * must be followed by one call of {@link #endExpectedEnable}.
     */
    public void expectEnable() {
        expectedEnables.incrementAndGet();
    }

    /** Records that work which was to enable the region was carried out or flushed. */
    public void endExpectedEnable() {
        expectedEnables.decrementAndGet();
    }

    /** Returns whether the region is valid, or is invalidated and will be enabled by posted work. */
    public boolean isValidOrExpected() {
        if (isValid()) {
            return true;
        }
        // Reads the count first. The count decreases after the state becomes VALID, so a lower count implies that VALID
        // is visible.
        boolean expected = expectedEnables.get() > 0;
        RegionState current = state;
        return current == RegionState.VALID || current == RegionState.INVALIDATED && expected;
    }

    /**
     * Leaves a file that the region took over to the next region, with its content, when this region is deregistered.
     */
    public void keepContent() {
        backing.keepContent();
    }

    /**
     * Returns whether all of the backing is still accessible. Asks the operating system; not for the data path.
     */
    public boolean verifyBacking() {
        return backing.verify();
    }

    /** Takes the region out of use because its backing failed, and calls the listener. Idempotent. */
    public void markFaulted() {
        markFaulted("");
    }

    /** Returns why the backing failed, or an empty text when that is unknown or the backing has not failed. */
    public synchronized String faultText() {
        return faultText;
    }

    private void markFaulted(String text) {
        Consumer<MemoryRegion> listener;
        synchronized (this) {
            if (!advance(RegionState.FAULTED)) {
                return;
            }
            faulted = true;
            faultText = text;
            listener = faultListener;
        }
        if (listener != null) {
            listener.accept(this);
        }
    }

    /**
     * Sets the listener that is called at most once, on any thread, when the backing fails. If the backing failed
     * before, the listener is called at once. The listener is not called when a region without failure ends.
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

    /** Begins a deregistration. Returns true for the first caller only. */
    boolean beginRelease() {
        return advance(RegionState.DEREGISTERED);
    }

    /** Completes when the region is deregistered and its backing is released. */
    CompletableFuture<Void> released() {
        return released;
    }

    RegionBacking backing() {
        return backing;
    }

    /**
     * Moves to a later state. Only {@link #enable} moves back. A fault replaces an invalidation, but not the reverse.
     */
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
        String text = describe(cause);
        markFaulted(text);
        return new RegionFault(this, text);
    }

    private String describe(Throwable cause) {
        if (state == RegionState.DEREGISTERED) {
            return "the region was deregistered while it was in use";
        }
        if (cause instanceof ProcessBacking.AccessFailure) {
            return String.valueOf(cause.getMessage());
        }
        return path().isEmpty()
                ? "the region's memory failed: " + cause.getMessage()
                : "the shared file " + path() + " no longer backs its region (truncated?); keep its length while it is"
                        + " registered";
    }

    @Override
    public String toString() {
        return "region 0x%08x (%d bytes, %s)".formatted(stag, length, state);
    }
}
