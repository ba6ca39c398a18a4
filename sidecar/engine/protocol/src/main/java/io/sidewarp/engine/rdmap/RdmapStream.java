// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.RtrKind;
import io.sidewarp.engine.verbs.StreamError;
import org.jspecify.annotations.Nullable;

/**
 * One RDMAP stream in RDMA mode (RFC 5040 with RFC 7306), over a DDP stream and a lower layer. The class is a state
 * machine without I/O and threads. Work requests come from work queues, and bytes come from the lower layer.
 * Completions go to a sink. One event loop owns the stream. The data path allocates nothing.
 */
public final class RdmapStream implements UpperLayer {

    private final LowerLayer llp;
    private final CompletionSink completions;
    private final StreamListener listener;
    private final StreamCounters counters = new StreamCounters();
    private final boolean extensions;
    private final ReadyIndication ready = new ReadyIndication();
    private final SendWork work;
    private final InboundMessages inbound;
    private final OutboundMessages outbound;

    private StreamState state = StreamState.OPEN;
    private boolean peerClosed;
    private boolean aborted;
    /** True when both sides closed gracefully. */
    private boolean gracefulEnd;
    /** Description of the side that closed the stream first. */
    private String closedBy = "";
    /** Copy of the lower layer's MULPDU that all threads may read. Only the event loop may query the lower layer. */
    private volatile int mulpdu;

    private @Nullable StreamError error;

    /** Creates a stream over a lower layer that is in full operation. */
    public RdmapStream(LowerLayer llp, StreamSettings settings) {
        this.llp = llp;
        this.completions = settings.completions();
        this.listener = settings.listener();
        this.work = new SendWork(settings.sendQueue(), settings.ord(), completions, counters);
        // Messages of RFC 7306 have version 1, so a stream with an RDMAC peer has no such messages.
        this.extensions = settings.extensions() && llp.protocolVersion() == 1;
        InboundRequests inboundRequests = new InboundRequests(settings.ird());
        this.outbound = new OutboundMessages(this, llp, work, inboundRequests, completions, counters);
        this.inbound = new InboundMessages(this, settings, counters, work.requests(), inboundRequests);
        inbound.setVersion(llp.protocolVersion());
        this.mulpdu = llp.mulpdu();
    }

    public StreamState state() {
        return state;
    }

    /** Returns the error that ended the stream, or null. */
    public @Nullable StreamError error() {
        return error;
    }

    /**
     * Returns whether the placement of some posted data at the peer is unconfirmed. An answer to a later request or a
     * complete graceful close confirms the placement. Called on the event loop.
     */
    public boolean isUnconfirmed() {
        return !gracefulEnd && work.isUnconfirmed();
    }

    /** Returns whether the messages of RFC 7306 are in use. */
    public boolean extensions() {
        return extensions;
    }

    /** Returns a snapshot of the counters. Any thread may call this and sees slightly old values. */
    public QueuePairCounters counters() {
        return counters.read(outbound.segments(), inbound.receiver().segments());
    }

    /** Returns the maximum size of a segment in bytes. Output refreshes the value. Any thread may call this. */
    public int mulpdu() {
        return mulpdu;
    }

    // Calls from the application, on the event loop.

    /**
     * Sends a message without payload before all other messages, to tell the peer that this side is ready to receive
     * (RFC 6581 section 9.2). The message generates no completion. Call this before the first message is sent.
     */
    public void indicateReady(RtrKind kind) {
        ready.request(kind);
        llp.requestOutput();
    }

    /**
     * Treats a Send without payload as the peer's ready-to-receive indication. Applies only if the Send is the peer's
     * first message.
     */
    public void expectReadySend() {
        ready.expectSend();
    }

    ReadyIndication ready() {
        return ready;
    }

    boolean isPeerClosed() {
        return peerClosed;
    }

    /** Reports that work was posted to a work queue. */
    public void onWorkPosted() {
        if (state == StreamState.TERMINATED || state == StreamState.CLOSED) {
            flush(null, CqeStatus.FLUSHED);
            completions.onCompletionsDone();
        } else if (!outbound.isClosed()) {
            // Local work needs no output, so it does not wait for output.
            outbound.carryOutLocalWork();
            llp.requestOutput();
        }
    }

    /** Carries out all posted work, then closes the outbound direction (RFC 5041 section 6.2.1). */
    public void close() {
        if (state == StreamState.OPEN) {
            closedBy = "closed by this side";
            changeState(StreamState.CLOSING, closedBy);
        }
        finishClosing();
    }

    /**
     * Continues a graceful close. Closes the output at once if nothing is left to send. The close cannot wait for
     * {@link #produce}, because the lower layer never calls {@link #produce} at a responder that may not send yet.
     */
    private void finishClosing() {
        outbound.closeWhenDrained();
        if (state == StreamState.CLOSING && !outbound.isClosed()) {
            llp.requestOutput();
        }
    }

    /** Returns whether a graceful close waits for the answer to a ready-to-receive Read (RFC 6581 section 9.2). */
    public boolean isReadyAnswerOwed() {
        return state == StreamState.CLOSING && ready.isAnswerOwed();
    }

    /**
     * Ends the wait of a graceful close for the answer to a ready-to-receive Read. Has no effect while posted work
     * waits for the answer.
     */
    public void giveUpReadyAnswer() {
        if (isReadyAnswerOwed() && work.isDrained()) {
            ready.giveUp();
            finishClosing();
        }
    }

    /** Ends the stream at once. Sends a Terminate only if the peer would otherwise see a graceful close. */
    public void abort() {
        if (state == StreamState.CLOSED) {
            return;
        }
        aborted = true;
        boolean told = llp.abortReachesPeer() || state == StreamState.TERMINATED;
        if (told || outbound.isClosed() || !llp.outputPermitted()) {
            llp.abort();
        } else {
            work.retire(llp.transferredPosition());
            end(null, null, CqeStatus.FLUSHED, "aborted by this side");
            outbound.sendLast(TerminateMessage.of(LlpError.CONNECTION_LOST));
        }
    }

    /** Ends the stream with an error of this side that no message of the peer caused. */
    public void fail(ProtocolError cause) {
        terminate(cause, TerminateMessage.of(cause), null, CqeStatus.FATAL, "");
    }

    // Output.

    @Override
    public void produce() {
        mulpdu = llp.mulpdu();
        outbound.produce();
    }

    @Override
    public void onOutputPermitted() {
        listener.onOutputPermitted();
    }

    @Override
    public void onTransferred() {
        work.retire(llp.transferredPosition());
        completions.onCompletionsDone();
        if (outbound.canStart()) {
            // The work waited for the completion of earlier work.
            llp.requestOutput();
        }
    }

    // Input.

    @Override
    public void onUlpdu(WireBuffer buffer, int offset, int length) {
        if (peerClosed) {
            // Data after the peer's graceful close is an error (RFC 5041 section 6.2.1).
            if (state == StreamState.CLOSING) {
                llp.abort();
            }
            return;
        }
        inbound.receiver().onSegment(buffer, offset, length);
    }

    @Override
    public void onInputDone() {
        completions.onCompletionsDone();
    }

    /** Reports that a request of the peer was accepted. */
    void onRequest() {
        llp.requestOutput();
    }

    /** Reports that the response of the oldest request was delivered. */
    void onResponse(Wqe request) {
        work.onResponse(request);
        work.retire(llp.transferredPosition());
        goOnBehindResponse();
    }

    /** Reports the answer to the Read that was only a ready-to-receive indication. */
    void onReadyResponse() {
        ready.onResponse();
        goOnBehindResponse();
    }

    private void goOnBehindResponse() {
        // A request that waited for ORD, a fence or a graceful close may continue now.
        if (work.hasUnstarted() || state == StreamState.CLOSING) {
            llp.requestOutput();
        }
    }

    /**
     * Ends the stream after a Terminate from the peer. All outstanding work fails. Work that the lower layer has
     * already taken fails too, because its outcome is unknown (RFC 5040 section 6.2.1).
     */
    void onTerminateReceived(ReceivedTerminate received) {
        if (state == StreamState.TERMINATED || state == StreamState.CLOSED) {
            return;
        }
        Wqe culprit = received.culprit(work);
        StreamError told = received.error(work, culprit);
        end(told, culprit, received.culpritStatus(), "terminated by the peer: " + told);
        outbound.close();
    }

    @Override
    public void onPeerClosed() {
        peerClosed = true;
        if (state == StreamState.OPEN) {
            closedBy = "closed by the peer";
            changeState(StreamState.CLOSING, closedBy);
        }
        if (state == StreamState.CLOSING) {
            if (inbound.isInsideMessage() || !work.requests().isEmpty() || ready.isAnswerOwed()) {
                // The rest of a message or an answer is missing, and can no longer arrive.
                onError(LlpError.CONNECTION_LOST);
            } else {
                finishClosing();
            }
        }
    }

    @Override
    public void onError(LlpError cause) {
        String about = cause == LlpError.CONNECTION_LOST
                ? "the peer closed in the middle of a message or before an answer"
                : "";
        terminate(cause, TerminateMessage.of(cause), null, CqeStatus.FATAL, about);
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        if (state == StreamState.CLOSED) {
            return;
        }
        boolean orderly = graceful && peerClosed && outbound.isClosed();
        boolean lost = state != StreamState.TERMINATED && !orderly && !aborted;
        if (lost && error == null) {
            error = StreamError.local(LlpError.CONNECTION_LOST, "");
        }
        gracefulEnd = orderly && state == StreamState.CLOSING;
        inbound.receiver().stop();
        outbound.end();
        work.retire(llp.transferredPosition());
        flush(null, CqeStatus.FLUSHED);
        changeState(StreamState.CLOSED, gracefulEnd ? closedBy : cause);
        completions.onCompletionsDone();
    }

    // Errors.

    /**
     * Ends the stream with an error that this side found. Flushes all work, and sends the Terminate if the lower layer
     * permits output.
     *
     * @param about description of the fault for people; may be empty
     */
    void terminate(
            ProtocolError cause,
            TerminateMessage message,
            @Nullable Wqe culprit,
            CqeStatus culpritStatus,
            String about) {
        if (state == StreamState.TERMINATED || state == StreamState.CLOSED) {
            return;
        }
        StreamError found = StreamError.local(cause, about);
        work.retire(llp.transferredPosition());
        end(found, culprit, culpritStatus, "terminated by this side: " + found);
        if (!outbound.isClosed() && llp.outputPermitted()) {
            outbound.sendLast(message);
        } else {
            outbound.close();
        }
    }

    private void end(@Nullable StreamError cause, @Nullable Wqe culprit, CqeStatus culpritStatus, String message) {
        error = cause;
        inbound.receiver().stop();
        outbound.abandon();
        flush(culprit, culpritStatus);
        changeState(StreamState.TERMINATED, message);
        completions.onCompletionsDone();
    }

    private void flush(@Nullable Wqe culprit, CqeStatus culpritStatus) {
        work.flush(culprit, culpritStatus, error);
        inbound.flush(culprit, culpritStatus, error);
    }

    private void changeState(StreamState newState, String message) {
        state = newState;
        listener.onStreamState(newState, error, message);
    }
}
