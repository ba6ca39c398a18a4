// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpHeaderFlyweight;
import io.sidewarp.engine.ddp.TaggedHeaderFlyweight;
import io.sidewarp.engine.ddp.UntaggedHeaderFlyweight;
import org.jspecify.annotations.Nullable;

/** Describes a refused segment in words, so that people see what the peer tried (RFC 5041 section 8.3 item 5). */
final class SegmentDescription {

    private SegmentDescription() {}

    /**
     * Describes a segment.
     *
     * @param header header of the segment, or null when the segment is shorter than a header
     * @param length bytes of the whole segment
     */
    static String of(@Nullable DdpHeaderFlyweight header, int length) {
        return switch (header) {
            case null -> "a segment of %d bytes, which is shorter than its header".formatted(length);
            case TaggedHeaderFlyweight tagged ->
                "%s of %d bytes to STag 0x%08x, tagged offset 0x%x"
                        .formatted(name(tagged), length - TaggedHeaderFlyweight.LENGTH, tagged.stag(), tagged.to());
            case UntaggedHeaderFlyweight untagged ->
                "%s of %d bytes on queue %s, MSN %s, message offset %d"
                        .formatted(
                                name(untagged),
                                length - UntaggedHeaderFlyweight.LENGTH,
                                Integer.toUnsignedString(untagged.qn()),
                                Integer.toUnsignedString(untagged.msn()),
                                untagged.mo());
        };
    }

    /** Describes a Read Request. */
    static String of(ReadRequestFlyweight request) {
        return "RDMA Read Request for %d bytes of STag 0x%08x, tagged offset 0x%x"
                .formatted(request.rdmaRdSz(), request.srcStag(), request.srcTo());
    }

    /** Describes an Atomic Request. */
    static String of(AtomicRequestFlyweight request) {
        return "Atomic Request with operation 0x%x on STag 0x%08x, tagged offset 0x%x"
                .formatted(request.aOpCode(), request.remoteStag(), request.remoteTo());
    }

    private static String name(DdpHeaderFlyweight header) {
        int opcode = RdmapControl.opcode(header.ulpControl());
        return switch (opcode) {
            case RdmapControl.RDMA_WRITE -> "RDMA Write";
            case RdmapControl.RDMA_READ_REQUEST -> "RDMA Read Request";
            case RdmapControl.RDMA_READ_RESPONSE -> "RDMA Read Response";
            case RdmapControl.SEND -> "Send";
            case RdmapControl.SEND_WITH_INVALIDATE -> "Send with Invalidate of STag 0x%08x".formatted(stag(header));
            case RdmapControl.SEND_WITH_SE -> "Send with SE";
            case RdmapControl.SEND_WITH_SE_AND_INVALIDATE ->
                "Send with SE and Invalidate of STag 0x%08x".formatted(stag(header));
            case RdmapControl.TERMINATE -> "Terminate";
            case RdmapControl.IMMEDIATE -> "Immediate Data";
            case RdmapControl.IMMEDIATE_WITH_SE -> "Immediate Data with SE";
            case RdmapControl.ATOMIC_REQUEST -> "Atomic Request";
            case RdmapControl.ATOMIC_RESPONSE -> "Atomic Response";
            default -> "message with opcode 0x%x".formatted(opcode);
        };
    }

    /** Returns the STag to invalidate, at the same offset as the STag of a tagged segment. */
    private static int stag(DdpHeaderFlyweight header) {
        return header.buffer().getInt(header.offset() + UntaggedHeaderFlyweight.ULP_WORD_OFFSET);
    }
}
