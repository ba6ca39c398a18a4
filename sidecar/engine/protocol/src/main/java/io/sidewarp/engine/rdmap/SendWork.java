// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.StreamError;
import org.jspecify.annotations.Nullable;

/**
 * Requester's side of a stream. Starts send work in the order of posting (RFC 5040 section 5.5 rule 13) and keeps at
 * most ORD requests outstanding (section 6.1). Completes work in the same order (rule 15). Work completes after the
 * lower layer took it over (rule 14) or after its response was delivered (rule 19, RFC 7306 section 5.4 rule 7).
 */
final class SendWork {

    private final WqeQueue queue;
    private final OutboundRequests requests;
    private final CompletionSink completions;
    private final StreamCounters counters;
    private final ControlBuffer readRequestBuffer = new ControlBuffer(ReadRequestFlyweight.LENGTH);
    private final ReadRequestFlyweight readRequest = new ReadRequestFlyweight(readRequestBuffer.octets(), 0);
    private final ControlBuffer atomicRequestBuffer = new ControlBuffer(AtomicRequestFlyweight.LENGTH);
    private final AtomicRequestFlyweight atomicRequest = new AtomicRequestFlyweight(atomicRequestBuffer.octets());
    private final ControlBuffer immediateBuffer = new ControlBuffer(Long.BYTES);

    /** Element whose message is being sent. */
    private @Nullable Wqe current;
    /** True when the message is the Immediate Data that follows a Write. */
    private boolean behindWrite;
    /** Data messages that were begun. */
    private long dataMessages;
    /** Data messages that an answer of the peer confirms. */
    private long confirmed;
    /** True when posted data messages were flushed. */
    private boolean lost;

    SendWork(WqeQueue queue, int ord, CompletionSink completions, StreamCounters counters) {
        this.queue = queue;
        this.requests = new OutboundRequests(ord);
        this.completions = completions;
        this.counters = counters;
    }

    OutboundRequests requests() {
        return requests;
    }

    /** True when all posted work was started and every request is answered. */
    boolean isDrained() {
        return current == null && queue.peekNext() == null && requests.isEmpty();
    }

    /** True when posted work has not been started. */
    boolean hasUnstarted() {
        return queue.peekNext() != null;
    }

    /** Returns the next element if the rules let it start now, else null. */
    @Nullable
    Wqe startable() {
        Wqe wqe = queue.peekNext();
        if (wqe == null || current != null) {
            return null;
        }
        if (wqe.isRequestNext() && requests.isFull()) {
            return null;
        }
        // A fence applies to the message. It is met when the Read of no bytes after the message is due.
        boolean waits = !wqe.isStarted()
                && (wqe.isFence() && !requests.isEmpty()
                        || wqe.isLocalFence() && wqe != queue.oldest()
                        || wqe.isLocal() && requests.useSubjectOf(wqe));
        return waits ? null : wqe;
    }

    /** Marks an element without a message as carried out. It completes after everything sent before it. */
    void passLocal(Wqe wqe, LowerLayer llp) {
        wqe.markStarted();
        wqe.endPosition(llp.committedPosition());
        queue.advance();
    }

    /** Begins the message of an element that {@link #startable()} returned. */
    void begin(Wqe wqe, DdpSender sender, int version) {
        current = wqe;
        behindWrite = false;
        if (wqe.isRequestNext()) {
            beginRequest(wqe, sender, version);
            return;
        }
        dataMessages++;
        int control = RdmapControl.of(version, wqe.opcode());
        switch (wqe.opcode()) {
            case RdmapControl.RDMA_WRITE ->
                sender.beginTagged(control, wqe.remoteStag(), wqe.remoteTaggedOffset(), wqe, wqe.length());
            case RdmapControl.IMMEDIATE, RdmapControl.IMMEDIATE_WITH_SE -> beginImmediate(wqe, sender, version);
            default ->
                wqe.msn(sender.beginUntagged(
                        control, wqe.invalidateStag(), RdmapControl.SEND_QUEUE, wqe, wqe.length()));
        }
    }

    private void beginRequest(Wqe wqe, DdpSender sender, int version) {
        wqe.covers(dataMessages);
        int control = RdmapControl.of(version, wqe.requestOpcode());
        if (wqe.requestOpcode() == RdmapControl.ATOMIC_REQUEST) {
            // The buffer is filled before its bytes are taken, because the MSN serves as Request Identifier.
            wqe.requestMsn(sender.beginUntagged(
                    control, 0, RdmapControl.REQUEST_QUEUE, atomicRequestBuffer, AtomicRequestFlyweight.LENGTH));
            wqe.putOperands(atomicRequest.set(
                    wqe.atomicOperation(), wqe.requestMsn(), wqe.remoteStag(), wqe.remoteTaggedOffset()));
            return;
        }
        if (wqe.isFlush()) {
            readRequest.set(ReadyIndication.STAG, 0, 0, ReadyIndication.STAG, 0);
        } else {
            readRequest.set(
                    wqe.sinkStag(), wqe.sinkTaggedOffset(), wqe.length(), wqe.remoteStag(), wqe.remoteTaggedOffset());
        }
        wqe.requestMsn(sender.beginUntagged(
                control, 0, RdmapControl.REQUEST_QUEUE, readRequestBuffer, ReadRequestFlyweight.LENGTH));
    }

    private void beginImmediate(Wqe wqe, DdpSender sender, int version) {
        immediateBuffer.octets().putLong(0, wqe.immediate());
        int control = RdmapControl.of(version, wqe.immediateOpcode());
        wqe.msn(sender.beginUntagged(control, 0, RdmapControl.SEND_QUEUE, immediateBuffer, Long.BYTES));
    }

    /**
     * Reports that the current message was committed. Begins the Immediate Data of a Write with Immediate Data. Work
     * that has a Read of no bytes after its message stays next in the queue until that Read is sent.
     */
    void finish(LowerLayer llp, DdpSender sender) {
        Wqe wqe = current;
        if (wqe == null) {
            return;
        }
        if (wqe.isWriteWithImmediate() && !behindWrite && !wqe.isRequestNext()) {
            counters.sent(RdmapControl.RDMA_WRITE, wqe.length());
            behindWrite = true;
            beginImmediate(wqe, sender, llp.protocolVersion());
            return;
        }
        current = null;
        wqe.markStarted();
        wqe.endPosition(llp.committedPosition());
        if (wqe.isRequestNext()) {
            queue.advance();
            requests.add(wqe);
            counters.sent(wqe.requestOpcode(), 0);
            return;
        }
        if (wqe.isFlush()) {
            wqe.markDataSent();
        } else {
            queue.advance();
        }
        if (behindWrite) {
            counters.sent(wqe.immediateOpcode(), 0);
        } else {
            counters.sent(wqe.opcode(), wqe.length());
        }
    }

    /** Returns the element whose message is being sent, or null. */
    @Nullable
    Wqe current() {
        return current;
    }

    /** Reports that the response of the oldest request is complete. */
    void onResponse(Wqe wqe) {
        requests.removeOldest();
        wqe.markDone();
        // Responses arrive in the order of the requests.
        confirmed = wqe.covers();
    }

    /**
     * Returns whether the peer may not have placed some of the posted Writes, Sends or Immediate Data. The response to
     * a later request confirms the placement (RFC 5040 section 5.5 rule 12).
     */
    boolean isUnconfirmed() {
        return lost || dataMessages > confirmed;
    }

    /** Completes finished work, in order. */
    void retire(long transferredPosition) {
        Wqe wqe = queue.oldest();
        while (wqe != null && wqe.isStarted() && isComplete(wqe, transferredPosition)) {
            queue.complete();
            if (wqe.isSignaled()) {
                completions.onSendCompletion(wqe, CqeStatus.SUCCESS, null);
            }
            queue.retire();
            wqe = queue.oldest();
        }
    }

    private static boolean isComplete(Wqe wqe, long transferredPosition) {
        return wqe.awaitsResponse() ? wqe.isDone() : wqe.endPosition() <= transferredPosition;
    }

    /**
     * Completes all remaining work with an error. A flush gets the status of the culprit if the peer reported the
     * error. The work that the peer refused may be complete here already.
     *
     * @param culprit element that caused the error, or null
     */
    void flush(@Nullable Wqe culprit, CqeStatus culpritStatus, @Nullable StreamError error) {
        current = null;
        requests.clear();
        Wqe wqe = queue.oldest();
        while (wqe != null) {
            boolean failed = wqe == culprit || wqe.isFlush() && error != null && error.remote();
            CqeStatus status = failed ? culpritStatus : CqeStatus.FLUSHED;
            lost |= wqe.isData();
            queue.complete();
            completions.onSendCompletion(wqe, status, error);
            queue.retire();
            wqe = queue.oldest();
        }
    }

    /** Returns the outstanding Send or Immediate Data with this MSN, or null when the work is complete already. */
    @Nullable
    Wqe sendWithMsn(int msn) {
        for (int i = 0; i < queue.capacity(); i++) {
            Wqe wqe = queue.peek(i);
            if (wqe == null || !isKnownToPeer(wqe)) {
                return null;
            }
            if (wqe.takesReceive() && wqe.msn() == msn) {
                return wqe;
            }
        }
        return null;
    }

    /** Returns the outstanding Write that covers this tagged offset, or null when the work is complete already. */
    @Nullable
    Wqe writeTo(int stag, long taggedOffset) {
        for (int i = 0; i < queue.capacity(); i++) {
            Wqe wqe = queue.peek(i);
            if (wqe == null || !isKnownToPeer(wqe)) {
                return null;
            }
            if (wqe.opcode() == RdmapControl.RDMA_WRITE
                    && wqe.remoteStag() == stag
                    && Long.compareUnsigned(taggedOffset - wqe.remoteTaggedOffset(), wqe.length()) < 0) {
                return wqe;
            }
        }
        return null;
    }

    /**
     * Returns whether the element was begun. Work begins in order, so later elements are unknown to the peer as well.
     */
    private boolean isKnownToPeer(Wqe wqe) {
        return wqe.isStarted() || wqe == current;
    }

    /** Returns the fault of work whose region was revoked after posting. */
    static RegionFault unusable(MemoryRegion region) {
        return new RegionFault(region, region + " is not usable any more");
    }

    /** Status of local work whose region failed or was revoked. */
    static CqeStatus statusOf(@Nullable MemoryRegion region) {
        return region != null && region.state() == RegionState.FAULTED
                ? CqeStatus.REGION_FAULT
                : CqeStatus.LOCAL_PROTECTION_ERROR;
    }
}
