// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.ddp.PayloadSource;
import io.sidewarp.engine.ddp.UntaggedBuffers;
import io.sidewarp.engine.llp.RtrKind;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The message without payload by which an initiator says that it is ready to receive (RFC 6581 section 9.2), on either
 * side. No work request stands for it, and no completion comes of it. At the responder a Write or Read without payload
 * needs no care at all, but a Send must not use up a receive.
 */
final class ReadyIndication implements UntaggedBuffers {

    /**
     * STag of a Write or Read without payload. Nobody checks it (RFC 5041 section 5.2); some take 0 for none.
     */
    static final int STAG = 1;

    private final WireBuffer readRequest = WireBuffer.allocate(ReadRequestFlyweight.LENGTH);
    private final PayloadSource readRequestSource = (messageOffset, target, targetOffset, length) ->
            target.putBytes(targetOffset, readRequest, (int) messageOffset, length);

    private @Nullable RtrKind due;
    private boolean awaitsResponse;
    private boolean givenUp;
    private boolean sendExpected;
    private boolean sendArriving;

    // At the initiator.

    /** It has to be sent. */
    void request(RtrKind kind) {
        due = kind;
        awaitsResponse = kind == RtrKind.READ;
    }

    boolean isDue() {
        return due != null;
    }

    /** Begins the message. */
    void begin(DdpSender sender, int version) {
        RtrKind kind = due;
        due = null;
        if (kind == RtrKind.WRITE) {
            sender.beginTagged(RdmapControl.of(version, RdmapControl.RDMA_WRITE), STAG, 0, readRequestSource, 0);
        } else if (kind == RtrKind.READ) {
            new ReadRequestFlyweight(readRequest, 0).set(STAG, 0, 0, STAG, 0);
            int control = RdmapControl.of(version, RdmapControl.RDMA_READ_REQUEST);
            sender.beginUntagged(
                    control, 0, RdmapControl.REQUEST_QUEUE, readRequestSource, ReadRequestFlyweight.LENGTH);
        } else {
            int control = RdmapControl.of(version, RdmapControl.SEND);
            sender.beginUntagged(control, 0, RdmapControl.SEND_QUEUE, readRequestSource, 0);
        }
    }

    /** Whether the next Read Response is that of the indication. Until it is there, it takes the place of a read. */
    boolean awaitsResponse() {
        return awaitsResponse;
    }

    void onResponse() {
        awaitsResponse = false;
    }

    /** A graceful close waits for the answer no longer. One that comes late is taken all the same. */
    void giveUp() {
        givenUp = true;
    }

    /** Whether a graceful close waits for the answer. */
    boolean isAnswerOwed() {
        return awaitsResponse && !givenUp;
    }

    /** Whether nothing of it is left to be sent, or waited for. */
    boolean isOver() {
        return due == null && !isAnswerOwed();
    }

    // At the responder.

    /** The peer's first message may be a Send that is no more than an indication. */
    void expectSend() {
        sendExpected = true;
    }

    /** A segment of the peer arrives that is not an indication by Send. */
    void onOther() {
        sendExpected = false;
    }

    /** A segment of a Send arrives. */
    void onSend(boolean whole, int payload) {
        sendArriving = sendExpected && whole && payload == 0;
        sendExpected = false;
    }

    /** Whether the Send that is arriving is the indication, which is placed here. */
    boolean isSendArriving() {
        return sendArriving;
    }

    /** The indication was delivered. */
    void onSendDelivered() {
        sendArriving = false;
    }

    @Override
    public boolean available() {
        return true;
    }

    @Override
    public long capacity() {
        return 0;
    }

    @Override
    public void place(long messageOffset, WireBuffer source, int sourceOffset, int length) {
        throw new IllegalStateException("an indication has no payload");
    }
}
