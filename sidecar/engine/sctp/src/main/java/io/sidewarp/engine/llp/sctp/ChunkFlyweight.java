// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * User data of the data chunks of RFC 5043. Every chunk begins with the DDP Source Sequence Number. A DDP Segment
 * (section 5.2.2), or a Function Code and Private Data (section 5.2.3), follow.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |          DDP-SSN              |    Function Code              |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |            Private Data (Dependent on Function Code)          |
 *  |                         ...                                   |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
final class ChunkFlyweight {

    /** Payload Protocol Identifier of a DDP Segment Chunk. */
    static final int DDP_SEGMENT = 16;
    /** Payload Protocol Identifier of a DDP Stream Session Control message. */
    static final int SESSION_CONTROL = 17;

    static final int SSN_LENGTH = 2;
    /** Number of values of a DDP-SSN. */
    static final int SSN_MODULUS = 0x1_0000;

    /** Bytes of DDP-SSN and Function Code. */
    static final int CONTROL_HEADER_LENGTH = 4;
    /** Maximum length of the Private Data of a message, in bytes. */
    static final int MAX_PRIVATE_DATA = 512;
    /** Bytes of the longest control message. */
    static final int MAX_CONTROL_LENGTH = CONTROL_HEADER_LENGTH + MAX_PRIVATE_DATA;

    private static final int FUNCTION_CODE_OFFSET = 2;

    private ChunkFlyweight() {}

    static int ssn(WireBuffer buffer, int offset) {
        return buffer.getUnsignedShort(offset);
    }

    static void ssn(WireBuffer buffer, int offset, int ssn) {
        buffer.putShort(offset, ssn);
    }

    static int functionCode(WireBuffer buffer, int offset) {
        return buffer.getUnsignedShort(offset + FUNCTION_CODE_OFFSET);
    }

    /**
     * Writes the header of a control message.
     *
     * @return bytes written
     */
    static int controlHeader(WireBuffer buffer, int offset, int ssn, FunctionCode code) {
        ssn(buffer, offset, ssn);
        buffer.putShort(offset + FUNCTION_CODE_OFFSET, code.value());
        return CONTROL_HEADER_LENGTH;
    }

    /** Returns whether the chunk begins a session. No later chunk of a session looks like an Initiate. */
    static boolean isInitiate(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        FunctionCode code = functionCode(payloadProtocol, buffer, offset, length);
        return code != null && code.isInitiate() && ssn(buffer, offset) == 0;
    }

    static boolean isTerminate(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        return length == CONTROL_HEADER_LENGTH
                && functionCode(payloadProtocol, buffer, offset, length) == FunctionCode.TERMINATE;
    }

    private static @Nullable FunctionCode functionCode(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        return payloadProtocol == SESSION_CONTROL && length >= CONTROL_HEADER_LENGTH
                ? FunctionCode.of(functionCode(buffer, offset))
                : null;
    }
}
