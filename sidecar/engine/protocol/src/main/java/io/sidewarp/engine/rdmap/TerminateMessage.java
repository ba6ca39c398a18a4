// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpHeaderFlyweight;
import io.sidewarp.engine.ddp.PayloadSource;
import io.sidewarp.engine.ddp.TaggedHeaderFlyweight;
import io.sidewarp.engine.ddp.UntaggedHeaderFlyweight;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.ProtocolError;

/**
 * The only Terminate that a stream may send (RFC 5040 section 5.4). Describes the first error, with the headers that
 * sections 4.8 and 7.1 require.
 */
final class TerminateMessage implements PayloadSource {

    /** Offset of the RDMA Read Request, which always follows an untagged header. */
    private static final int REQUEST_OFFSET = TerminateFlyweight.DDP_HEADER_OFFSET + UntaggedHeaderFlyweight.LENGTH;

    private final WireBuffer buffer = WireBuffer.allocate(TerminateFlyweight.MAX_LENGTH);
    private final TerminateFlyweight header = new TerminateFlyweight(buffer);
    private final int length;

    private TerminateMessage(int length) {
        this.length = length;
    }

    /**
     * Creates the message for an error that no incoming segment caused, without optional parts (section 7.1 rule 1).
     */
    static TerminateMessage of(ProtocolError error) {
        TerminateMessage message = new TerminateMessage(TerminateFlyweight.MIN_LENGTH);
        message.header.set(error.layer(), error.type(), error.code(), 0);
        return message;
    }

    /**
     * Creates the message for an error of an incoming segment (section 7.1 rule 2).
     *
     * @param segmentLength bytes of the whole segment
     */
    static TerminateMessage of(ProtocolError error, WireBuffer segment, int offset, int segmentLength) {
        boolean tagged = segmentLength > 0 && DdpHeaderFlyweight.isTagged(segment.getUnsignedByte(offset));
        int headerLength = tagged ? TaggedHeaderFlyweight.LENGTH : UntaggedHeaderFlyweight.LENGTH;
        if (segmentLength < headerLength) {
            return of(error);
        }
        TerminateMessage message = new TerminateMessage(TerminateFlyweight.DDP_HEADER_OFFSET + headerLength);
        message.setWithHeaders(error, segmentLength, false);
        message.buffer.putBytes(TerminateFlyweight.DDP_HEADER_OFFSET, segment, offset, headerLength);
        return message;
    }

    /**
     * Creates the message for an RDMA Read Request without any answer yet (section 7.1 rule 3). The request comes from
     * its own buffer. A request in several segments is not complete in its last segment.
     *
     * @param header DDP header of the request's last segment
     * @param segmentLength bytes of that segment
     * @param request buffer that begins with the request
     */
    static TerminateMessage of(
            ProtocolError error, UntaggedHeaderFlyweight header, int segmentLength, WireBuffer request) {
        TerminateMessage message = new TerminateMessage(REQUEST_OFFSET + ReadRequestFlyweight.LENGTH);
        message.setWithHeaders(error, segmentLength, true);
        message.buffer.putBytes(
                TerminateFlyweight.DDP_HEADER_OFFSET, header.buffer(), header.offset(), UntaggedHeaderFlyweight.LENGTH);
        message.buffer.putBytes(REQUEST_OFFSET, request, 0, ReadRequestFlyweight.LENGTH);
        return message;
    }

    /**
     * Creates the message for an RDMA Read whose response cannot continue. The message holds the request, advanced by
     * the bytes that were sent (section 4.8).
     *
     * @param sent bytes of the response that were sent
     */
    static TerminateMessage of(ProtocolError error, InboundRequests.Request request, long sent) {
        int headerLength = UntaggedHeaderFlyweight.LENGTH;
        TerminateMessage message = new TerminateMessage(REQUEST_OFFSET + ReadRequestFlyweight.LENGTH);
        message.setWithHeaders(error, headerLength + ReadRequestFlyweight.LENGTH, true);
        message.buffer.putBytes(TerminateFlyweight.DDP_HEADER_OFFSET, request.ddpHeader(), 0, headerLength);
        new ReadRequestFlyweight(message.buffer, REQUEST_OFFSET)
                .set(
                        request.sinkStag(),
                        request.sinkTo() + sent,
                        request.size() - sent,
                        request.srcStag(),
                        request.srcTo() + sent);
        return message;
    }

    private void setWithHeaders(ProtocolError error, int segmentLength, boolean withRequest) {
        int hdrCt =
                TerminateFlyweight.M_FLAG | TerminateFlyweight.D_FLAG | (withRequest ? TerminateFlyweight.R_FLAG : 0);
        header.set(error.layer(), error.type(), error.code(), hdrCt);
        header.segmentLength(segmentLength);
    }

    /** Bytes of the message. */
    int length() {
        return length;
    }

    @Override
    public void fetch(long messageOffset, WireBuffer target, int targetOffset, int octets) {
        target.putBytes(targetOffset, buffer, (int) messageOffset, octets);
    }
}
