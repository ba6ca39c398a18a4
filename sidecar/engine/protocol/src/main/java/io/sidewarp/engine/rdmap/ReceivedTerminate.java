// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpHeaderFlyweight;
import io.sidewarp.engine.ddp.TaggedHeaderFlyweight;
import io.sidewarp.engine.ddp.UntaggedHeaderFlyweight;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.DdpError;
import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.engine.verbs.StreamError;
import org.jspecify.annotations.Nullable;

/**
 * Terminate of the peer: its error, and the outstanding work that it points at. Trusts HdrCt only as far as the message
 * is long (see the notes on siw in the conformance documents).
 */
final class ReceivedTerminate {

    private final WireBuffer buffer;
    private final int length;
    private final TerminateFlyweight header;

    ReceivedTerminate(WireBuffer buffer, int length) {
        this.buffer = buffer;
        this.length = length;
        this.header = new TerminateFlyweight(buffer);
    }

    /** False when the message is too short for an error. */
    boolean isWellFormed() {
        return length >= TerminateFlyweight.MIN_LENGTH;
    }

    /**
     * Returns the error of the Terminate.
     *
     * @param culprit the work that {@link #culprit} returned
     */
    StreamError error(SendWork work, @Nullable Wqe culprit) {
        if (!isWellFormed()) {
            return new StreamError(0, 0, 0, "Terminate without content", true, "");
        }
        int layer = header.layer();
        int type = header.type();
        int code = header.code();
        String name = StreamError.definition(layer, type, code)
                .map(ProtocolError::description)
                .orElse("Unknown error");
        return new StreamError(layer, type, code, name, true, explanation(work, culprit));
    }

    /** Describes faults in this side's own requests that the peer may have refused, or returns an empty text. */
    private String explanation(SendWork work, @Nullable Wqe culprit) {
        if (header.layer() != 0 || header.code() != RdmapError.CATASTROPHIC_STREAM.code() || culprit == null) {
            return "";
        }
        if (culprit.opcode() == RdmapControl.ATOMIC_REQUEST && culprit.remoteTaggedOffset() % Long.BYTES != 0) {
            return "tagged offset 0x%x of the atomic operation is not a multiple of 8; give an aligned address"
                    .formatted(culprit.remoteTaggedOffset());
        }
        int requests = work.requests().count();
        return culprit.awaitsResponse() && requests > 1
                ? "%d Reads and atomic operations were outstanding; the peer may serve fewer at a time: use an ord of at most its ird"
                        .formatted(requests)
                : "";
    }

    /** Returns the outstanding work whose message the peer refused, or null when it cannot be identified. */
    @Nullable
    Wqe culprit(SendWork work) {
        if (!isWellFormed() || (header.hdrCt() & TerminateFlyweight.D_FLAG) == 0) {
            return null;
        }
        int at = TerminateFlyweight.DDP_HEADER_OFFSET;
        return switch (DdpHeaderFlyweight.of(buffer, at, length - at)) {
            case null -> null;
            // The peer may also have refused a Read Response, which is not work of this side.
            case TaggedHeaderFlyweight tagged ->
                RdmapControl.opcode(tagged.ulpControl()) == RdmapControl.RDMA_WRITE
                        ? work.writeTo(tagged.stag(), tagged.to())
                        : null;
            case UntaggedHeaderFlyweight untagged ->
                switch (untagged.qn()) {
                    case RdmapControl.SEND_QUEUE -> work.sendWithMsn(untagged.msn());
                    case RdmapControl.REQUEST_QUEUE -> requestWithMsn(work.requests(), untagged.msn());
                    default -> null;
                };
        };
    }

    /**
     * Returns the request with this MSN, else the oldest request, because Linux siw returns a value that is not the
     * MSN.
     */
    private static @Nullable Wqe requestWithMsn(OutboundRequests requests, int msn) {
        Wqe exact = requests.withMsn(msn);
        return exact == null ? requests.oldest() : exact;
    }

    /** Status of the work that the peer refused. */
    CqeStatus culpritStatus() {
        if (!isWellFormed()) {
            return CqeStatus.REMOTE_OPERATION_ERROR;
        }
        boolean protection = header.layer() == 0 && header.type() == RdmapError.TYPE_REMOTE_PROTECTION
                || header.layer() == 1
                        && header.type() == DdpError.INVALID_STAG.type()
                        && header.code() != DdpError.TAGGED_VERSION.code();
        return protection ? CqeStatus.REMOTE_ACCESS_ERROR : CqeStatus.REMOTE_OPERATION_ERROR;
    }
}
