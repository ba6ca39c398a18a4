// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RdmapError;
import org.jspecify.annotations.Nullable;

/**
 * Outbound messages of a stream. Chooses the next message, and gives its segments to the lower layer. A Terminate comes
 * first, then the ready-to-receive indication. Own work and responses to the peer take turns. Allocates nothing unless
 * an error occurs.
 */
final class OutboundMessages {

    /** Kind of the message that is being sent. */
    private enum Kind {
        NOTHING,
        WORK,
        RESPONSE,
        READY,
        TERMINATE
    }

    private final RdmapStream stream;
    private final LowerLayer llp;
    private final ReadyIndication ready;
    private final SendWork work;
    private final InboundRequests inboundRequests;
    private final CompletionSink completions;
    private final StreamCounters counters;
    private final DdpSender sender = new DdpSender(RdmapControl.QUEUES);

    private Kind current = Kind.NOTHING;
    private boolean responseWasLast;
    private boolean closed;
    private @Nullable TerminateMessage terminate;

    OutboundMessages(
            RdmapStream stream,
            LowerLayer llp,
            SendWork work,
            InboundRequests inboundRequests,
            CompletionSink completions,
            StreamCounters counters) {
        this.stream = stream;
        this.llp = llp;
        this.ready = stream.ready();
        this.work = work;
        this.inboundRequests = inboundRequests;
        this.completions = completions;
        this.counters = counters;
    }

    /** Returns whether this side sends no more. */
    boolean isClosed() {
        return closed;
    }

    /** Segments committed to the lower layer. */
    long segments() {
        return sender.segments();
    }

    /** Sends messages while there are some and the lower layer takes them. */
    void produce() {
        while (!closed) {
            try {
                if (!sender.isActive() && !begin()) {
                    break;
                }
                if (!sender.emit(llp)) {
                    return;
                }
                finish();
            } catch (RegionFault fault) {
                onSourceFault(fault);
            }
        }
        closeWhenDrained();
    }

    private boolean begin() {
        if (terminate != null) {
            current = Kind.TERMINATE;
            int control = RdmapControl.of(llp.protocolVersion(), RdmapControl.TERMINATE);
            sender.beginUntagged(control, 0, RdmapControl.TERMINATE_QUEUE, terminate, terminate.length());
            return true;
        }
        if (stream.state() == StreamState.TERMINATED) {
            return false;
        }
        if (ready.isDue()) {
            current = Kind.READY;
            ready.begin(sender, llp.protocolVersion());
            return true;
        }
        // Responses and own work take turns, so that neither starves the other.
        return responseWasLast ? beginWork() || beginResponse() : beginResponse() || beginWork();
    }

    private boolean beginResponse() {
        if (inboundRequests.isEmpty()) {
            return false;
        }
        responseWasLast = true;
        current = Kind.RESPONSE;
        InboundRequests.Request request = inboundRequests.oldest();
        int control = RdmapControl.of(llp.protocolVersion(), request.responseOpcode());
        if (request.isAtomic()) {
            sender.beginUntagged(
                    control,
                    0,
                    RdmapControl.ATOMIC_RESPONSE_QUEUE,
                    inboundRequests.atomicResponse(),
                    AtomicResponseFlyweight.LENGTH);
        } else {
            sender.beginTagged(control, request.sinkStag(), request.sinkTo(), request, request.size());
        }
        return true;
    }

    /** Carries out the local work at the head of the queue. Local work has no message. */
    void carryOutLocalWork() {
        boolean any = false;
        for (Wqe wqe = work.startable(); wqe != null && wqe.isLocal(); wqe = work.startable()) {
            MemoryRegion unusable = wqe.carryOut();
            if (unusable != null) {
                terminateLocally(wqe, SendWork.unusable(unusable));
                return;
            }
            work.passLocal(wqe, llp);
            work.retire(llp.transferredPosition());
            any = true;
        }
        if (any) {
            completions.onCompletionsDone();
        }
    }

    /** Returns whether work may be sent now. */
    boolean canStart() {
        return startable() != null;
    }

    /**
     * Returns the next work that may be sent now, or null. An unanswered ready-to-receive Read blocks other requests.
     */
    private @Nullable Wqe startable() {
        Wqe wqe = work.startable();
        return wqe != null && ready.awaitsResponse() && wqe.isRequestNext() ? null : wqe;
    }

    private boolean beginWork() {
        carryOutLocalWork();
        if (stream.state() == StreamState.TERMINATED) {
            return terminate != null && begin();
        }
        Wqe wqe = startable();
        if (wqe == null) {
            return false;
        }
        responseWasLast = false;
        MemoryRegion unusable = wqe.unusableRegion();
        if (unusable != null) {
            terminateLocally(wqe, SendWork.unusable(unusable));
            return terminate != null && begin();
        }
        if (stream.isPeerClosed() && wqe.isRequestNext()) {
            // No peer is left to answer the request.
            stream.onError(LlpError.CONNECTION_LOST);
            return terminate != null && begin();
        }
        current = Kind.WORK;
        work.begin(wqe, sender, llp.protocolVersion());
        return true;
    }

    private void finish() {
        switch (current) {
            case WORK -> {
                work.finish(llp, sender);
                if (sender.isActive()) {
                    return;
                }
                if (stream.isPeerClosed() && !work.requests().isEmpty()) {
                    // The request had begun when the peer closed, and no peer is left to answer it.
                    stream.onError(LlpError.CONNECTION_LOST);
                }
            }
            case RESPONSE -> {
                InboundRequests.Request request = inboundRequests.oldest();
                counters.sent(request.responseOpcode(), request.size());
                inboundRequests.removeOldest();
            }
            case TERMINATE -> {
                terminate = null;
                closed = true;
                llp.close();
            }
            case READY, NOTHING -> {}
        }
        current = Kind.NOTHING;
    }

    /** Closes the outbound direction when a graceful close has nothing more to send. */
    void closeWhenDrained() {
        // The sender may still hold the indication when the lower layer had no room for it.
        boolean drained = ready.isOver() && !sender.isActive() && work.isDrained() && inboundRequests.isEmpty();
        if (stream.state() == StreamState.CLOSING && !closed && drained) {
            closed = true;
            llp.closeOutput();
        }
    }

    /** Terminates the stream because local memory failed under the message that is being sent. */
    private void onSourceFault(RegionFault fault) {
        MemoryRegion region = fault.region();
        if (current == Kind.RESPONSE) {
            boolean faulted = region != null && region.state() == RegionState.FAULTED;
            RdmapError cause = faulted ? RdmapError.LOCAL_CATASTROPHIC : RdmapError.INVALID_STAG;
            TerminateMessage message = faulted
                    ? TerminateMessage.of(cause)
                    : TerminateMessage.of(cause, inboundRequests.oldest(), sender.sent());
            stream.terminate(cause, message, null, CqeStatus.FATAL, String.valueOf(fault.getMessage()));
        } else {
            terminateLocally(work.current(), fault);
        }
    }

    /** Terminates because work of this side cannot be carried out (RFC 5040 section 7.1 rule 1). */
    private void terminateLocally(@Nullable Wqe wqe, RegionFault fault) {
        RdmapError cause = RdmapError.LOCAL_CATASTROPHIC;
        CqeStatus status = SendWork.statusOf(fault.region());
        stream.terminate(cause, TerminateMessage.of(cause), wqe, status, String.valueOf(fault.getMessage()));
    }

    /** Sends a Terminate as the last message. */
    void sendLast(TerminateMessage message) {
        terminate = message;
        llp.requestOutput();
    }

    /** Ends the stream gracefully without a further message. */
    void close() {
        closed = true;
        llp.close();
    }

    /** Drops the rest of the current message and the responses that the peer waits for. */
    void abandon() {
        sender.abandon();
        current = Kind.NOTHING;
        inboundRequests.clear();
    }

    /** Sends nothing more, because the lower layer's stream is gone. */
    void end() {
        terminate = null;
        closed = true;
        sender.abandon();
    }
}
