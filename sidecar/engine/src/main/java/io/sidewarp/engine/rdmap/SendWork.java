// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.ddp.PayloadSource;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The requester's side of a stream: starts send work in the order of posting (RFC 5040 section 5.5 rule 13), keeps at
 * most ORD reads outstanding (section 6.1), and completes work in that same order (rule 15), not before the lower layer
 * took it over (rule 14) or the Read Response was delivered (rule 19).
 */
final class SendWork {

    private final WorkQueue queue;
    private final OutboundReads reads;
    private final CompletionSink completions;
    private final StreamCounters counters;
    private final WireBuffer readRequestBuffer = WireBuffer.allocate(ReadRequestFlyweight.LENGTH);
    private final ReadRequestFlyweight readRequest = new ReadRequestFlyweight(readRequestBuffer, 0);
    private final PayloadSource readRequestSource = (messageOffset, target, targetOffset, length) ->
            target.putBytes(targetOffset, readRequestBuffer, (int) messageOffset, length);

    /** The element whose message is being sent. */
    private @Nullable Wqe current;

    SendWork(WorkQueue queue, int ord, CompletionSink completions, StreamCounters counters) {
        this.queue = queue;
        this.reads = new OutboundReads(ord);
        this.completions = completions;
        this.counters = counters;
    }

    OutboundReads reads() {
        return reads;
    }

    /** True when everything posted was started and every read is answered. */
    boolean isDrained() {
        return current == null && queue.peekNext() == null && reads.isEmpty();
    }

    /** True when something is posted that has not been started. */
    boolean hasUnstarted() {
        return queue.peekNext() != null;
    }

    /** The next element, if the rules let it start now; else null. */
    @Nullable
    Wqe startable() {
        Wqe wqe = queue.peekNext();
        if (wqe == null) {
            return null;
        }
        boolean waits =
                wqe.isFence() && !reads.isEmpty() || wqe.opcode() == RdmapControl.RDMA_READ_REQUEST && reads.isFull();
        return waits ? null : wqe;
    }

    /** Begins the message of an element returned by {@link #startable()}. */
    void begin(Wqe wqe, DdpSender sender, int version) {
        current = wqe;
        int control = RdmapControl.of(version, wqe.opcode());
        switch (wqe.opcode()) {
            case RdmapControl.RDMA_WRITE ->
                sender.beginTagged(control, wqe.remoteStag(), wqe.remoteTaggedOffset(), wqe, wqe.length());
            case RdmapControl.RDMA_READ_REQUEST -> {
                readRequest.set(
                        wqe.sinkStag(),
                        wqe.sinkTaggedOffset(),
                        wqe.length(),
                        wqe.remoteStag(),
                        wqe.remoteTaggedOffset());
                wqe.msn(sender.beginUntagged(
                        control, 0, RdmapControl.READ_REQUEST_QUEUE, readRequestSource, ReadRequestFlyweight.LENGTH));
            }
            default ->
                wqe.msn(sender.beginUntagged(
                        control, wqe.invalidateStag(), RdmapControl.SEND_QUEUE, wqe, wqe.length()));
        }
    }

    /** The current message was committed. */
    void finish(LowerLayer llp) {
        Wqe wqe = current;
        if (wqe == null) {
            return;
        }
        current = null;
        wqe.markStarted();
        wqe.endPosition(llp.committedPosition());
        queue.advance();
        boolean read = wqe.opcode() == RdmapControl.RDMA_READ_REQUEST;
        if (read) {
            reads.add(wqe);
        }
        counters.sent(wqe.opcode(), read ? 0 : wqe.length());
    }

    /** The element whose message is being sent, or null. */
    @Nullable
    Wqe current() {
        return current;
    }

    /** The response of the oldest read is complete. */
    void onReadDone(Wqe wqe) {
        reads.removeOldest();
        wqe.markDone();
    }

    /** Completes what is complete, in order. */
    void retire(long transferredPosition) {
        Wqe wqe = queue.oldest();
        while (wqe != null && wqe.isStarted() && isComplete(wqe, transferredPosition)) {
            if (wqe.isSignaled()) {
                completions.onSendCompletion(wqe, CompletionStatus.SUCCESS, null);
            }
            queue.retire();
            wqe = queue.oldest();
        }
    }

    private static boolean isComplete(Wqe wqe, long transferredPosition) {
        return wqe.opcode() == RdmapControl.RDMA_READ_REQUEST ? wqe.isDone() : wqe.endPosition() <= transferredPosition;
    }

    /**
     * Completes everything that is left in error.
     *
     * @param culprit the element that caused it, or null
     */
    void flush(@Nullable Wqe culprit, CompletionStatus culpritStatus, @Nullable StreamError error) {
        current = null;
        reads.clear();
        Wqe wqe = queue.oldest();
        while (wqe != null) {
            CompletionStatus status = wqe == culprit ? culpritStatus : CompletionStatus.FLUSHED;
            completions.onSendCompletion(wqe, status, error);
            queue.retire();
            wqe = queue.oldest();
        }
    }

    /** The outstanding Send with this MSN, or null when it is complete already. */
    @Nullable
    Wqe sendWithMsn(int msn) {
        for (int i = 0; i < queue.capacity(); i++) {
            Wqe wqe = queue.peek(i);
            if (wqe == null || !isKnownToPeer(wqe)) {
                return null;
            }
            boolean send = RdmapControl.queueOf(wqe.opcode()) == RdmapControl.SEND_QUEUE
                    && !RdmapControl.isTagged(wqe.opcode());
            if (send && wqe.msn() == msn) {
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
