// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.RegionState;
import org.jspecify.annotations.Nullable;

/**
 * The requester's side of a stream: starts send work in the order of posting (RFC 5040 section 5.5 rule 13), keeps at
 * most ORD requests outstanding (section 6.1), and completes work in that same order (rule 15), not before the lower
 * layer took it over (rule 14) or the response was delivered (rule 19, RFC 7306 section 5.4 rule 7).
 */
final class SendWork {

    private final WorkQueue queue;
    private final OutboundRequests requests;
    private final CompletionSink completions;
    private final StreamCounters counters;
    private final ControlBuffer readRequestBuffer = new ControlBuffer(ReadRequestFlyweight.LENGTH);
    private final ReadRequestFlyweight readRequest = new ReadRequestFlyweight(readRequestBuffer.octets(), 0);
    private final ControlBuffer atomicRequestBuffer = new ControlBuffer(AtomicRequestFlyweight.LENGTH);
    private final AtomicRequestFlyweight atomicRequest = new AtomicRequestFlyweight(atomicRequestBuffer.octets());
    private final ControlBuffer immediateBuffer = new ControlBuffer(Long.BYTES);

    /** The element whose message is being sent. */
    private @Nullable Wqe current;
    /** The message is the Immediate Data behind a Write. */
    private boolean behindWrite;
    /** Data messages that were begun, and those of them that an answer of the peer confirms. */
    private long dataMessages;

    private long confirmed;
    /** Data messages were posted that came to nothing. */
    private boolean lost;

    SendWork(WorkQueue queue, int ord, CompletionSink completions, StreamCounters counters) {
        this.queue = queue;
        this.requests = new OutboundRequests(ord);
        this.completions = completions;
        this.counters = counters;
    }

    OutboundRequests requests() {
        return requests;
    }

    /** True when everything posted was started and every request is answered. */
    boolean isDrained() {
        return current == null && queue.peekNext() == null && requests.isEmpty();
    }

    /** True when something is posted that has not been started. */
    boolean hasUnstarted() {
        return queue.peekNext() != null;
    }

    /** The next element, if the rules let it start now; else null. */
    @Nullable
    Wqe startable() {
        Wqe wqe = queue.peekNext();
        if (wqe == null || current != null) {
            return null;
        }
        if (wqe.isRequestNext() && requests.isFull()) {
            return null;
        }
        // A fence of the message was met before the Read of no bytes behind it is due.
        boolean waits = !wqe.isStarted()
                && (wqe.isFence() && !requests.isEmpty()
                        || wqe.isLocalFence() && wqe != queue.oldest()
                        || wqe.isLocal() && requests.useSubjectOf(wqe));
        return waits ? null : wqe;
    }

    /** Marks an element that no message belongs to as carried out; it completes behind what was sent before it. */
    void passLocal(Wqe wqe, LowerLayer llp) {
        wqe.markStarted();
        wqe.endPosition(llp.committedPosition());
        queue.advance();
    }

    /** Begins the message of an element returned by {@link #startable()}. */
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
            // Nothing is taken out of the buffer before it is filled: the MSN serves as Request Identifier.
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
     * The current message was committed. Begins the Immediate Data of a Write that has some. Work with a Read of no bytes
     * behind it stays next in the queue until that is sent.
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

    /** The element whose message is being sent, or null. */
    @Nullable
    Wqe current() {
        return current;
    }

    /** The response of the oldest request is complete. */
    void onResponse(Wqe wqe) {
        requests.removeOldest();
        wqe.markDone();
        // Responses come in the order of the requests.
        confirmed = wqe.covers();
    }

    /**
     * Whether Writes, Sends or Immediate Data were posted of which no answer of the peer says that they were placed: the
     * response to a later request does (RFC 5040 section 5.5 rule 12).
     */
    boolean isUnconfirmed() {
        return lost || dataMessages > confirmed;
    }

    /** Completes what is complete, in order. */
    void retire(long transferredPosition) {
        Wqe wqe = queue.oldest();
        while (wqe != null && wqe.isStarted() && isComplete(wqe, transferredPosition)) {
            queue.complete();
            if (wqe.isSignaled()) {
                completions.onSendCompletion(wqe, CompletionStatus.SUCCESS, null);
            }
            queue.retire();
            wqe = queue.oldest();
        }
    }

    private static boolean isComplete(Wqe wqe, long transferredPosition) {
        return wqe.awaitsResponse() ? wqe.isDone() : wqe.endPosition() <= transferredPosition;
    }

    /**
     * Completes everything that is left in error. A flush has the status of the culprit if the peer reported the error: what the
     * peer refused may be complete here already.
     *
     * @param culprit the element that caused it, or null
     */
    void flush(@Nullable Wqe culprit, CompletionStatus culpritStatus, @Nullable StreamError error) {
        current = null;
        requests.clear();
        Wqe wqe = queue.oldest();
        while (wqe != null) {
            boolean failed = wqe == culprit || wqe.isFlush() && error != null && error.remote();
            CompletionStatus status = failed ? culpritStatus : CompletionStatus.FLUSHED;
            lost |= wqe.isData();
            queue.complete();
            completions.onSendCompletion(wqe, status, error);
            queue.retire();
            wqe = queue.oldest();
        }
    }

    /** The outstanding Send or Immediate Data with this MSN, or null when it is complete already. */
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

    /** The outstanding Write that covers this tagged offset, or null when it is complete already. */
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

    /** Work is begun in order, so what is behind an element that is not known to the peer is not either. */
    private boolean isKnownToPeer(Wqe wqe) {
        return wqe.isStarted() || wqe == current;
    }

    /** What work finds whose region was taken away meanwhile. */
    static RegionFault unusable(MemoryRegion region) {
        return new RegionFault(region, region + " is not usable any more");
    }

    /** Status of local work whose region failed or was revoked. */
    static CompletionStatus statusOf(@Nullable MemoryRegion region) {
        return region != null && region.state() == RegionState.FAULTED
                ? CompletionStatus.REGION_FAULT
                : CompletionStatus.LOCAL_PROTECTION_ERROR;
    }
}
