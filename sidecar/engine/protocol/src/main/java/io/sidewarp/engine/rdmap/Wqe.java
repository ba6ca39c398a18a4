// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.PayloadSource;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Work queue element: a slot of a work queue with a copy of one work request. A slot lives as long as its queue and is
 * reused. The poster owns the slot from claim to publication. The event loop owns the slot from publication until it
 * retires the slot.
 */
public final class Wqe implements PayloadSource {

    /** WrOpcode of local work, which has no message. RDMAP's opcodes have 4 bits. */
    private static final int LOCAL = 0x10;

    private static final VarHandle PUBLISHED;

    static {
        try {
            PUBLISHED = MethodHandles.lookup().findVarHandle(Wqe.class, "published", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Last sequence that the element was published with in a work queue, plus 1. */
    @SuppressWarnings("unused") // through PUBLISHED
    private long published;

    private final GatherList memory = new GatherList();

    private long id;
    private WrOpcode operation = WrOpcode.SEND;
    private int opcode;
    private boolean signaled;
    private boolean fence;
    private boolean localFence;
    private int remoteStag;
    private long remoteTaggedOffset;
    private int invalidateStag;
    private int immediateOpcode;
    private long immediate;
    private boolean flush;
    private long addSwapData;
    private long addSwapMask;
    private long compareData;
    private long compareMask;
    private @Nullable MemoryRegion subject;
    private boolean enableExpected;
    private int key;

    // State that belongs to the event loop.
    private boolean started;
    private boolean dataSent;
    private boolean done;
    private long endPosition;
    private int msn;
    private int requestMsn;
    private long covers;
    private long received;
    private long result;

    Wqe() {}

    /** Hands the element to the event loop, as the element with that sequence in a work queue. */
    void publish(long sequence) {
        PUBLISHED.setRelease(this, sequence + 1);
    }

    /** Returns whether the element was published with that sequence. All writes of its poster are then visible. */
    boolean isPublished(long sequence) {
        return (long) PUBLISHED.getAcquire(this) == sequence + 1;
    }

    /**
     * Copies a checked work request. The poster fills the element anew for each request.
     *
     * <p>A flush is a Read of no bytes after the message. The peer answers it after it has placed everything sent
     * before (RFC 5040 section 5.5 rule 12). A Read or atomic operation needs no such Read, because the peer answers it
     * anyway. A region to enable expects this work from now on.
     */
    public void set(Wr request) {
        memory.clear();
        for (int i = 0; i < request.sgeCount(); i++) {
            addSge(request.region(i), request.offset(i), request.length(i));
        }
        id = request.id();
        operation = request.opcode();
        opcode = opcode(request);
        signaled = request.isSignaled();
        fence = request.isFence();
        localFence = request.isLocalFence();
        remoteStag = request.remoteStag();
        remoteTaggedOffset = request.remoteTaggedOffset();
        invalidateStag = request.isInvalidate() ? request.invalidateStag() : 0;
        boolean immediateData = operation == WrOpcode.IMMEDIATE || operation == WrOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        immediateOpcode = immediateData ? RdmapControl.immediateOpcode(request.isSolicited()) : 0;
        immediate = request.immediate();
        flush = operation == WrOpcode.FLUSH || request.isFlush() && !RdmapControl.isRequest(opcode);
        addSwapData = request.operand();
        addSwapMask = request.operandMask();
        compareData = request.compare();
        compareMask = request.compareMask();
        subject = operation.isLocal() ? request.subject() : null;
        key = request.key();
        if (operation == WrOpcode.ENABLE && subject != null) {
            enableExpected = true;
            subject.expectEnable();
        }
        started = false;
        dataSent = operation == WrOpcode.FLUSH;
        done = false;
        endPosition = 0;
        msn = 0;
        requestMsn = 0;
        covers = 0;
        received = 0;
        result = 0;
    }

    /** Adds a part of a local region. The caller has checked that the part lies in the region. */
    void addSge(MemoryRegion region, long offset, long octets) {
        memory.add(region, offset, octets);
    }

    private static int opcode(Wr request) {
        return switch (request.opcode()) {
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> RdmapControl.RDMA_WRITE;
            case RDMA_READ, FLUSH -> RdmapControl.RDMA_READ_REQUEST;
            case LOCAL_INVALIDATE, ENABLE -> LOCAL;
            case IMMEDIATE -> RdmapControl.immediateOpcode(request.isSolicited());
            case FETCH_ADD, COMPARE_SWAP -> RdmapControl.ATOMIC_REQUEST;
            case SEND, RECEIVE -> RdmapControl.sendOpcode(request.isSolicited(), request.isInvalidate());
        };
    }

    /** Drops the references to regions, so that a retired slot keeps no region alive. */
    void clear() {
        endExpectedEnable();
        memory.clear();
        subject = null;
    }

    public long id() {
        return id;
    }

    /** Operation of the work request. */
    public WrOpcode operation() {
        return operation;
    }

    /** WrOpcode of the message ({@link RdmapControl}). Local work has no message, and an opcode above all others. */
    int opcode() {
        return opcode;
    }

    boolean isSignaled() {
        return signaled;
    }

    /** Bytes of all elements. */
    public long length() {
        return memory.length();
    }

    /** True for a Write that is followed by Immediate Data. */
    boolean isWriteWithImmediate() {
        return operation == WrOpcode.RDMA_WRITE_WITH_IMMEDIATE;
    }

    /** True when the work completes only with an answer of the peer. */
    boolean awaitsResponse() {
        return flush || RdmapControl.isRequest(opcode);
    }

    /** True when the next message of the work is a request that the peer answers. */
    boolean isRequestNext() {
        return RdmapControl.isRequest(opcode) || flush && dataSent;
    }

    /** WrOpcode of the request that the peer answers. */
    int requestOpcode() {
        return flush ? RdmapControl.RDMA_READ_REQUEST : opcode;
    }

    /** Bytes that the Read asks for. */
    long readLength() {
        return flush ? 0 : memory.length();
    }

    /** True for a message that carries data to the peer: a Write, a Send or Immediate Data. */
    boolean isData() {
        return !isLocal() && !RdmapControl.isRequest(opcode);
    }

    /** Records that the message is sent and that the Read of no bytes is due. */
    void markDataSent() {
        dataSent = true;
    }

    boolean isFlush() {
        return flush;
    }

    /** Atomic Operation Code of an atomic operation. */
    int atomicOperation() {
        return operation == WrOpcode.FETCH_ADD ? AtomicRequestFlyweight.FETCH_ADD : AtomicRequestFlyweight.CMP_SWAP;
    }

    /**
     * Result of the work, valid when the work is complete. The result is the value that an atomic operation found in
     * the peer's memory, or the Immediate Data that used up this receive.
     */
    public long result() {
        return result;
    }

    void result(long value) {
        result = value;
    }

    /** Takes the result of an atomic operation and stores it in local memory if the work names a region. */
    void storeResult(long value) throws RegionFault {
        result = value;
        MemoryRegion region = memory.first();
        if (region != null) {
            if (!region.isValid()) {
                throw SendWork.unusable(region);
            }
            region.storeWord(memory.firstOffset(), value);
        }
    }

    int immediateOpcode() {
        return immediateOpcode;
    }

    long immediate() {
        return immediate;
    }

    /** Writes the operands into a request. The unused fields of a FetchAdd are as RFC 7306 section 5.2.1 requires. */
    void putOperands(AtomicRequestFlyweight request) {
        boolean add = operation == WrOpcode.FETCH_ADD;
        request.operands(addSwapData, addSwapMask, add ? 0 : compareData, add ? -1L : compareMask);
    }

    /** True for local work, which has no message. */
    boolean isLocal() {
        return opcode == LOCAL;
    }

    /**
     * Carries out local work, which has no message.
     *
     * @return the region if the region failed or was deregistered, else null
     */
    @Nullable
    MemoryRegion carryOut() {
        MemoryRegion region = subject;
        if (region == null) {
            throw new IllegalStateException("work without a region");
        }
        if (operation == WrOpcode.ENABLE) {
            boolean enabled = region.enable(key);
            endExpectedEnable();
            return enabled ? null : region;
        }
        // The peer may have invalidated the region first.
        return region.invalidate() || region.state() == RegionState.INVALIDATED ? null : region;
    }

    /** Ends the region's expectation of this work, which was carried out or is flushed. */
    private void endExpectedEnable() {
        MemoryRegion region = subject;
        if (enableExpected && region != null) {
            enableExpected = false;
            region.endExpectedEnable();
        }
    }

    /** True when one of the messages of this work uses up a receive of the peer. */
    boolean takesReceive() {
        return RdmapControl.isTagged(opcode)
                ? immediateOpcode != 0
                : !isLocal() && RdmapControl.queueOf(opcode) == RdmapControl.SEND_QUEUE;
    }

    boolean isFence() {
        return fence;
    }

    boolean isLocalFence() {
        return localFence;
    }

    int remoteStag() {
        return remoteStag;
    }

    long remoteTaggedOffset() {
        return remoteTaggedOffset;
    }

    int invalidateStag() {
        return invalidateStag;
    }

    boolean isStarted() {
        return started;
    }

    void markStarted() {
        started = true;
    }

    boolean isDone() {
        return done;
    }

    void markDone() {
        done = true;
    }

    long endPosition() {
        return endPosition;
    }

    void endPosition(long position) {
        endPosition = position;
    }

    int msn() {
        return msn;
    }

    void msn(int newMsn) {
        msn = newMsn;
    }

    /** MSN of the request that the peer answers. */
    int requestMsn() {
        return requestMsn;
    }

    void requestMsn(int newMsn) {
        requestMsn = newMsn;
    }

    /** Data messages from the beginning of the stream that the answer to this request confirms. */
    long covers() {
        return covers;
    }

    void covers(long messages) {
        covers = messages;
    }

    /** Bytes of a Read Response that were placed. */
    long received() {
        return received;
    }

    void addReceived(int octets) {
        received += octets;
    }

    /** STag of the sink of an RDMA Read, 0 for a read of no bytes without a sink. */
    int sinkStag() {
        MemoryRegion region = memory.first();
        return region == null ? 0 : region.stag();
    }

    /** Tagged offset of the sink of an RDMA Read. */
    long sinkTaggedOffset() {
        MemoryRegion region = memory.first();
        return region == null ? 0 : region.baseTaggedOffset() + memory.firstOffset();
    }

    /**
     * Returns the first region that is no longer valid, or null. A message that was sent no longer needs its regions.
     */
    @Nullable
    MemoryRegion unusableRegion() {
        return dataSent ? null : memory.unusable();
    }

    /** Returns whether an element lies in the region whose STag the other work changes. */
    boolean usesSubjectOf(Wqe local) {
        return memory.contains(local.subject);
    }

    @Override
    public void fetch(long messageOffset, WireBuffer target, int targetOffset, int octets) throws RegionFault {
        memory.transfer(messageOffset, target, targetOffset, octets, true);
    }

    /** Places bytes of a received message. */
    void place(long messageOffset, WireBuffer source, int sourceOffset, int octets) throws RegionFault {
        memory.transfer(messageOffset, source, sourceOffset, octets, false);
    }
}
