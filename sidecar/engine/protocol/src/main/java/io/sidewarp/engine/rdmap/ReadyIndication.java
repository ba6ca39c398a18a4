// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.ddp.UntaggedBuffers;
import io.sidewarp.engine.verbs.RtrKind;
import org.jspecify.annotations.Nullable;

/**
 * State of the ready-to-receive indication on either side. An initiator sends this message without payload to tell that
 * it is ready to receive (RFC 6581 section 9.2). The indication has no work request and makes no completion. At the
 * responder, a Write or Read without payload needs no special handling, but a Send must not use up a receive.
 */
final class ReadyIndication {

    /**
     * STag of a Write or Read without payload. No receiver checks it (RFC 5041 section 5.2), but some treat 0 as no
     * STag.
     */
    static final int STAG = 1;

    private final ControlBuffer readRequest = new ControlBuffer(ReadRequestFlyweight.LENGTH);
    private final ControlBuffer buffer = new ControlBuffer(0);

    private @Nullable RtrKind due;
    private boolean awaitsResponse;
    private boolean givenUp;
    private boolean sendExpected;
    private boolean sendArriving;

    // State at the initiator.

    /** Requests that the indication is sent. */
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
            sender.beginTagged(RdmapControl.of(version, RdmapControl.RDMA_WRITE), STAG, 0, readRequest, 0);
        } else if (kind == RtrKind.READ) {
            new ReadRequestFlyweight(readRequest.octets(), 0).set(STAG, 0, 0, STAG, 0);
            int control = RdmapControl.of(version, RdmapControl.RDMA_READ_REQUEST);
            sender.beginUntagged(control, 0, RdmapControl.REQUEST_QUEUE, readRequest, ReadRequestFlyweight.LENGTH);
        } else {
            int control = RdmapControl.of(version, RdmapControl.SEND);
            sender.beginUntagged(control, 0, RdmapControl.SEND_QUEUE, readRequest, 0);
        }
    }

    /** Returns whether the next Read Response answers the indication. Until then the indication counts as a Read. */
    boolean awaitsResponse() {
        return awaitsResponse;
    }

    void onResponse() {
        awaitsResponse = false;
    }

    /** Ends the wait of a graceful close for the answer. A late answer is still accepted. */
    void giveUp() {
        givenUp = true;
    }

    /** Returns whether a graceful close waits for the answer. */
    boolean isAnswerOwed() {
        return awaitsResponse && !givenUp;
    }

    /** Returns whether the indication has been sent and no answer is awaited. */
    boolean isOver() {
        return due == null && !isAnswerOwed();
    }

    // State at the responder.

    /** Treats the peer's first message as the indication if it is a Send without payload. */
    void expectSend() {
        sendExpected = true;
    }

    /** Reports a segment of the peer that is not an indication by Send. */
    void onOther() {
        sendExpected = false;
    }

    /** Reports a segment of a Send. */
    void onSend(boolean whole, int payload) {
        sendArriving = sendExpected && whole && payload == 0;
        sendExpected = false;
    }

    /** Returns whether the arriving Send is the indication, which is placed here. */
    boolean isSendArriving() {
        return sendArriving;
    }

    /** Reports that the indication was delivered. */
    void onSendDelivered() {
        sendArriving = false;
    }

    /** Buffer of the indication by Send, which has no payload. */
    UntaggedBuffers buffer() {
        return buffer;
    }
}
