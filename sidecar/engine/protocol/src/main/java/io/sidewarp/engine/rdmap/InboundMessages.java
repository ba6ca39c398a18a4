// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpHeaderFlyweight;
import io.sidewarp.engine.ddp.DdpReceiver;
import io.sidewarp.engine.ddp.DdpUser;
import io.sidewarp.engine.ddp.TaggedHeaderFlyweight;
import io.sidewarp.engine.ddp.UntaggedBuffers;
import io.sidewarp.engine.ddp.UntaggedHeaderFlyweight;
import io.sidewarp.engine.memory.AccessCheck;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.memory.StagTable;
import io.sidewarp.engine.memory.TaggedAccess;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.DdpError;
import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.engine.verbs.StreamError;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Inbound messages of a stream. Checks each segment before the segment is placed (RFC 5040 section 7.2), and carries
 * out the messages that DDP delivers. Allocates nothing unless an error occurs.
 */
final class InboundMessages implements DdpUser {

    private static final int NO_OPCODE = -1;

    /** Room for a Terminate, with spare bytes for peers that append some. */
    private static final int TERMINATE_BUFFER = 256;

    private final RdmapStream stream;
    private final StagTable stags;
    private final RegionUser user;
    private final Receives receives;
    private final CompletionSink completions;
    private final StreamCounters counters;
    private final OutboundRequests outboundRequests;
    private final InboundRequests inboundRequests;
    private final AtomicResponder atomics;
    private final boolean extensions;
    private final DdpReceiver receiver;

    /** Buffer for Immediate Data, which uses up a receive but has its own place (RFC 7306 section 6.3). */
    private final ControlBuffer immediateBuffer = new ControlBuffer(Long.BYTES, this::hasReceive);

    private final ControlBuffer readRequestBuffer = new ControlBuffer(ReadRequestFlyweight.LENGTH);
    private final ReadRequestFlyweight readRequest = new ReadRequestFlyweight(readRequestBuffer.octets(), 0);
    private final ControlBuffer terminateBuffer = new ControlBuffer(TERMINATE_BUFFER);
    /** Buffer of queue number 3: available for each outstanding atomic operation (RFC 7306 section 5.2.2 item 5). */
    private final ControlBuffer atomicResponseBuffer =
            new ControlBuffer(AtomicResponseFlyweight.LENGTH, this::awaitsAtomicResponse);

    private final AtomicResponseFlyweight atomicResponse = new AtomicResponseFlyweight(atomicResponseBuffer.octets());
    /** For each queue number: opcode of a message whose last segment has not arrived, or {@link #NO_OPCODE}. */
    private final int[] unfinished = new int[RdmapControl.QUEUES];

    private final InboundLimits writeLimits;
    private final InboundLimits responseLimits;
    /** Limits for each queue number. */
    private final InboundLimits[] untaggedLimits = new InboundLimits[RdmapControl.QUEUES];

    private int version = 1;
    private boolean insideWrite;

    InboundMessages(
            RdmapStream stream,
            StreamSettings settings,
            StreamCounters counters,
            OutboundRequests outboundRequests,
            InboundRequests inboundRequests) {
        this.stream = stream;
        this.stags = settings.stags();
        this.user = settings.user();
        this.receives = settings.receives();
        this.completions = settings.completions();
        this.counters = counters;
        this.outboundRequests = outboundRequests;
        this.inboundRequests = inboundRequests;
        this.writeLimits = new InboundLimits(settings.maxShortSegments());
        this.responseLimits = new InboundLimits(settings.maxShortSegments());
        Arrays.setAll(untaggedLimits, qn -> new InboundLimits(settings.maxShortSegments()));
        this.atomics = new AtomicResponder(settings);
        this.extensions = stream.extensions();
        int queues = extensions ? RdmapControl.QUEUES : RdmapControl.QUEUES_WITHOUT_EXTENSIONS;
        this.receiver = new DdpReceiver(this, stags, user, queues);
        Arrays.fill(unfinished, NO_OPCODE);
    }

    private boolean hasReceive() {
        return receives.available();
    }

    private boolean awaitsAtomicResponse() {
        return oldestRequest(RdmapControl.ATOMIC_REQUEST) != null;
    }

    DdpReceiver receiver() {
        return receiver;
    }

    /** Returns whether the peer owes the rest of a message, other than of a Read Response, which its request covers. */
    boolean isInsideMessage() {
        return insideWrite || receiver.isInsideUntagged();
    }

    void setVersion(int newVersion) {
        version = newVersion;
        receiver.setVersion(newVersion);
    }

    @Override
    public @Nullable ProtocolError onTagged(DdpReceiver ddp, TaggedHeaderFlyweight header, int payload)
            throws RegionFault {
        ProtocolError error = admitTagged(header, payload);
        if (error == null) {
            error = ddp.placeTagged((isWrite(header) ? AccessRight.REMOTE_WRITE : AccessRight.LOCAL_WRITE).bit());
        }
        if (error == null) {
            onPlaced(header, payload);
        }
        return error;
    }

    private @Nullable ProtocolError admitTagged(TaggedHeaderFlyweight header, int payload) {
        int control = header.ulpControl();
        if (RdmapControl.version(control) != version) {
            return RdmapError.INVALID_VERSION;
        }
        int opcode = RdmapControl.opcode(control);
        if (!RdmapControl.isTagged(opcode)) {
            return RdmapError.UNEXPECTED_OPCODE;
        }
        boolean write = opcode == RdmapControl.RDMA_WRITE;
        if (!(write ? writeLimits : responseLimits).admit(header, payload)) {
            return RdmapError.CATASTROPHIC_STREAM;
        }
        stream.ready().onOther();
        return write ? null : admitReadResponse(header, payload);
    }

    /** Checks that a response is the requested one (RFC 5040 section 5.2.2 permits the check). */
    private @Nullable ProtocolError admitReadResponse(TaggedHeaderFlyweight header, int payload) {
        if (stream.ready().awaitsResponse()) {
            return payload == 0 && header.last() ? null : DdpError.BASE_OR_BOUNDS;
        }
        Wqe read = oldestRequest(RdmapControl.RDMA_READ_REQUEST);
        if (read == null) {
            return RdmapError.UNEXPECTED_OPCODE;
        }
        long octets = read.received() + payload;
        if (octets > read.readLength() || header.last() && octets != read.readLength()) {
            return DdpError.BASE_OR_BOUNDS;
        }
        if (payload == 0) {
            return null;
        }
        if (header.stag() != read.sinkStag()) {
            return DdpError.INVALID_STAG;
        }
        return header.to() == read.sinkTaggedOffset() + read.received() ? null : DdpError.BASE_OR_BOUNDS;
    }

    private static boolean isWrite(TaggedHeaderFlyweight header) {
        return RdmapControl.opcode(header.ulpControl()) == RdmapControl.RDMA_WRITE;
    }

    private void onPlaced(TaggedHeaderFlyweight header, int payload) {
        counters.received(payload);
        if (isWrite(header)) {
            insideWrite = !header.last();
            if (header.last()) {
                counters.writeReceived();
            }
            return;
        }
        if (stream.ready().awaitsResponse()) {
            stream.onReadyResponse();
            return;
        }
        Wqe read = oldestRequest(RdmapControl.RDMA_READ_REQUEST);
        if (read == null) {
            return;
        }
        read.addReceived(payload);
        if (header.last()) {
            stream.onResponse(read);
        }
    }

    /** Returns the oldest request if it has this opcode, else null. Responses arrive in the order of the requests. */
    private @Nullable Wqe oldestRequest(int opcode) {
        Wqe oldest = outboundRequests.oldest();
        return oldest != null && oldest.requestOpcode() == opcode ? oldest : null;
    }

    @Override
    public @Nullable ProtocolError onUntagged(DdpReceiver ddp, UntaggedHeaderFlyweight header, int payload)
            throws RegionFault {
        ProtocolError error = admitUntagged(header, payload);
        if (error == null) {
            error = ddp.placeUntagged(untaggedBuffers(header));
        }
        if (error == null && header.last()) {
            onMessage(header, header.mo() + payload);
        }
        return error;
    }

    private @Nullable ProtocolError admitUntagged(UntaggedHeaderFlyweight header, int payload) {
        int control = header.ulpControl();
        if (RdmapControl.version(control) != version) {
            return RdmapError.INVALID_VERSION;
        }
        int opcode = RdmapControl.opcode(control);
        if (!RdmapControl.isDefined(opcode, extensions) || RdmapControl.isTagged(opcode)) {
            return RdmapError.UNEXPECTED_OPCODE;
        }
        int qn = header.qn();
        if (RdmapControl.queueOf(opcode) != qn) {
            return DdpError.INVALID_QN;
        }
        boolean excess = !untaggedLimits[qn].admit(header, payload);
        if (excess || RdmapControl.isRequest(opcode) && inboundRequests.isFull()) {
            return RdmapError.CATASTROPHIC_STREAM;
        }
        // Messages of one queue use different buffers, so all segments of a message must have the same opcode.
        if (unfinished[qn] != NO_OPCODE && unfinished[qn] != opcode) {
            return RdmapError.UNEXPECTED_OPCODE;
        }
        unfinished[qn] = header.last() ? NO_OPCODE : opcode;
        if (opcode == RdmapControl.SEND) {
            stream.ready().onSend(header.last(), payload);
        } else {
            stream.ready().onOther();
        }
        return null;
    }

    private UntaggedBuffers untaggedBuffers(UntaggedHeaderFlyweight header) {
        return switch (RdmapControl.opcode(header.ulpControl())) {
            case RdmapControl.RDMA_READ_REQUEST -> readRequestBuffer;
            case RdmapControl.TERMINATE -> terminateBuffer;
            case RdmapControl.IMMEDIATE, RdmapControl.IMMEDIATE_WITH_SE -> immediateBuffer;
            case RdmapControl.ATOMIC_REQUEST -> atomics.buffer();
            case RdmapControl.ATOMIC_RESPONSE -> atomicResponseBuffer;
            default -> stream.ready().isSendArriving() ? stream.ready().buffer() : receives;
        };
    }

    private void onMessage(UntaggedHeaderFlyweight header, long messageLength) {
        switch (RdmapControl.opcode(header.ulpControl())) {
            case RdmapControl.RDMA_READ_REQUEST -> onReadRequest(header, messageLength);
            case RdmapControl.TERMINATE ->
                stream.onTerminateReceived(new ReceivedTerminate(terminateBuffer.octets(), (int) messageLength));
            case RdmapControl.IMMEDIATE, RdmapControl.IMMEDIATE_WITH_SE -> onImmediate(header, messageLength);
            case RdmapControl.ATOMIC_REQUEST -> onAtomicRequest(header, messageLength);
            case RdmapControl.ATOMIC_RESPONSE -> onAtomicResponse(header, messageLength);
            default -> onSend(header, messageLength);
        }
    }

    private void onSend(UntaggedHeaderFlyweight header, long messageLength) {
        if (stream.ready().isSendArriving()) {
            stream.ready().onSendDelivered();
            return;
        }
        Wqe receive = receives.current();
        if (receive == null) {
            return;
        }
        int control = header.ulpControl();
        int stag = 0;
        if (RdmapControl.invalidates(RdmapControl.opcode(control))) {
            stag = header.ulpWord();
            ProtocolError error = invalidate(stag);
            if (error != null) {
                rejectDelivered(error, header);
                return;
            }
        }
        counters.sendReceived(messageLength);
        complete(receive, CqeStatus.SUCCESS, messageLength, control, stag, null);
    }

    /**
     * Invalidates an STag for the peer, if the STag is bound to this stream alone and permits remote invalidation. An
     * STag that several streams share is never invalidated remotely (RFC 5040 section 8.1.1 item 7).
     */
    private @Nullable ProtocolError invalidate(int stag) {
        MemoryRegion region = stags.lookup(stag);
        AccessCheck check = TaggedAccess.checkAssociation(region, user, AccessRight.REMOTE_INVALIDATE.bit());
        if (region == null || check == AccessCheck.INVALID_STAG) {
            return RdmapError.STAG_NOT_INVALIDATED;
        }
        if (check != AccessCheck.OK || region.queuePair() == 0) {
            return RdmapError.PROTECTED_STAG_NOT_INVALIDATED;
        }
        return region.invalidate() ? null : RdmapError.STAG_NOT_INVALIDATED;
    }

    private void onReadRequest(UntaggedHeaderFlyweight header, long messageLength) {
        if (messageLength != ReadRequestFlyweight.LENGTH) {
            rejectDelivered(RdmapError.UNSPECIFIED_OPERATION, header);
            return;
        }
        MemoryRegion source = null;
        if (readRequest.rdmaRdSz() > 0) {
            source = stags.lookup(readRequest.srcStag());
            AccessCheck check = TaggedAccess.check(
                    source, user, AccessRight.REMOTE_READ.bit(), readRequest.srcTo(), readRequest.rdmaRdSz());
            if (check != AccessCheck.OK) {
                rejectReadRequest(RdmapError.of(check), header);
                return;
            }
        }
        inboundRequests.add().set(header, readRequest, source);
        stream.onRequest();
    }

    private void onImmediate(UntaggedHeaderFlyweight header, long messageLength) {
        Wqe receive = receives.current();
        if (receive == null) {
            return;
        }
        if (messageLength != Long.BYTES) {
            rejectDelivered(RdmapError.UNSPECIFIED_OPERATION, header);
            return;
        }
        counters.immediateReceived();
        receive.result(immediateBuffer.octets().getLong(0));
        complete(receive, CqeStatus.SUCCESS, 0, header.ulpControl(), 0, null);
    }

    /** Carries out an Atomic Request. The Terminate for an error has no RDMA header (RFC 7306 section 8.1 item 2). */
    private void onAtomicRequest(UntaggedHeaderFlyweight header, long messageLength) {
        try {
            RdmapError error = atomics.execute(messageLength);
            if (error != null) {
                receiver.stop();
                TerminateMessage message =
                        TerminateMessage.of(error, header.buffer(), header.offset(), receiver.segmentLength());
                String about = SegmentDescription.of(atomics.request())
                        + (error == RdmapError.CATASTROPHIC_STREAM
                                ? "; the address is not aligned to 8 bytes"
                                : missingRight(atomics.request().remoteStag(), AccessRight.REMOTE_ATOMIC));
                stream.terminate(error, message, null, CqeStatus.FLUSHED, about);
                return;
            }
        } catch (RegionFault fault) {
            receiver.stop();
            onFault(null, fault);
            return;
        }
        inboundRequests.add().set(atomics.request(), atomics.original());
        stream.onRequest();
    }

    private void onAtomicResponse(UntaggedHeaderFlyweight header, long messageLength) {
        Wqe request = outboundRequests.oldest();
        if (request == null) {
            return;
        }
        if (messageLength != AtomicResponseFlyweight.LENGTH
                || atomicResponse.originalRequestIdentifier() != request.requestMsn()) {
            rejectDelivered(RdmapError.UNSPECIFIED_OPERATION, header);
            return;
        }
        try {
            request.storeResult(atomicResponse.originalRemoteDataValue());
        } catch (RegionFault fault) {
            receiver.stop();
            onFault(request, fault);
            return;
        }
        stream.onResponse(request);
    }

    /** Terminates the stream because of an error in a message that DDP delivered. */
    private void rejectDelivered(ProtocolError error, UntaggedHeaderFlyweight header) {
        receiver.stop();
        onSegmentError(error, header.buffer(), header.offset(), receiver.segmentLength());
    }

    /** Terminates because a Read Request names memory that it may not read. The Terminate carries the request. */
    private void rejectReadRequest(RdmapError error, UntaggedHeaderFlyweight header) {
        receiver.stop();
        TerminateMessage message =
                TerminateMessage.of(error, header, receiver.segmentLength(), readRequestBuffer.octets());
        String about =
                SegmentDescription.of(readRequest) + missingRight(readRequest.srcStag(), AccessRight.REMOTE_READ);
        stream.terminate(error, message, null, CqeStatus.FLUSHED, about);
    }

    @Override
    public void onSegmentError(ProtocolError error, WireBuffer buffer, int offset, int length) {
        DdpHeaderFlyweight header = DdpHeaderFlyweight.of(buffer, offset, length);
        Wqe target = targetOf(header);
        MemoryRegion unusable = target == null ? null : target.unusableRegion();
        TerminateMessage message = TerminateMessage.of(error, buffer, offset, length);
        String about = SegmentDescription.of(header, length);
        if (error == RdmapError.CATASTROPHIC_STREAM && isRequest(header) && inboundRequests.isFull()) {
            about +=
                    "; it is one more than this side's ird of %d permits at a time: raise ird here, or lower the peer's ord"
                            .formatted(inboundRequests.capacity());
        } else if (error == DdpError.MSN_NO_BUFFER) {
            about += "; no receive is posted for it";
        } else if (error == DdpError.INVALID_STAG) {
            about += missingRight(header);
        }
        if (error == DdpError.MESSAGE_TOO_LONG) {
            stream.terminate(error, message, target, CqeStatus.LOCAL_LENGTH_ERROR, about);
        } else if (error == DdpError.INVALID_STAG && unusable != null) {
            // The region that receives the Read was revoked during the Read.
            stream.terminate(error, message, target, SendWork.statusOf(unusable), about);
        } else {
            stream.terminate(error, message, null, CqeStatus.FLUSHED, about);
        }
    }

    /**
     * Describes the right that a Write lacks. The Terminate has the same error for a missing right and an unknown STag.
     */
    private String missingRight(@Nullable DdpHeaderFlyweight header) {
        return header instanceof TaggedHeaderFlyweight tagged && isWrite(tagged)
                ? missingRight(tagged.stag(), AccessRight.REMOTE_WRITE)
                : "";
    }

    /** Describes the right that a valid STag of this stream lacks, or returns an empty text. */
    private String missingRight(int stag, AccessRight right) {
        AccessCheck check = TaggedAccess.checkAssociation(stags.lookup(stag), user, right.bit());
        return check == AccessCheck.NO_RIGHT ? "; the region was registered without " + right : "";
    }

    /** Returns the work of this side that a segment belongs to, or null. */
    private @Nullable Wqe targetOf(@Nullable DdpHeaderFlyweight header) {
        return switch (header) {
            case null -> null;
            case TaggedHeaderFlyweight tagged ->
                RdmapControl.opcode(tagged.ulpControl()) == RdmapControl.RDMA_READ_RESPONSE
                        ? oldestRequest(RdmapControl.RDMA_READ_REQUEST)
                        : null;
            case UntaggedHeaderFlyweight untagged -> untagged.qn() == RdmapControl.SEND_QUEUE ? receives.held() : null;
        };
    }

    private static boolean isRequest(@Nullable DdpHeaderFlyweight header) {
        return header != null && RdmapControl.isRequest(RdmapControl.opcode(header.ulpControl()));
    }

    @Override
    public void onSegmentFault(RegionFault fault, WireBuffer buffer, int offset, int length) {
        onFault(targetOf(DdpHeaderFlyweight.of(buffer, offset, length)), fault);
    }

    private void onFault(@Nullable Wqe target, RegionFault fault) {
        RdmapError error = RdmapError.LOCAL_CATASTROPHIC;
        CqeStatus status = SendWork.statusOf(fault.region());
        stream.terminate(error, TerminateMessage.of(error), target, status, String.valueOf(fault.getMessage()));
    }

    /** Completes all remaining receives. For shared receives, only the receive of a partly received message is left. */
    void flush(@Nullable Wqe culprit, CqeStatus culpritStatus, @Nullable StreamError error) {
        Wqe wqe = receives.held();
        while (wqe != null) {
            CqeStatus status = wqe == culprit ? culpritStatus : CqeStatus.FLUSHED;
            complete(wqe, status, 0, 0, 0, error);
            wqe = receives.held();
        }
    }

    private void complete(
            Wqe receive, CqeStatus status, long length, int control, int stag, @Nullable StreamError error) {
        receives.complete();
        completions.onReceiveCompletion(receive, status, length, control, stag, error);
        receives.retire();
    }
}
