// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A DDP stream session control message.
 *
 * @param data depths and connection model, only in an enhanced message
 * @param privateData Private Data that is left for the Consumer
 */
record ControlMessage(FunctionCode code, @Nullable EnhancedData data, byte[] privateData) {

    static final ControlMessage TERMINATE = new ControlMessage(FunctionCode.TERMINATE, null, new byte[0]);

    /** Reads a message, or returns null if the bytes are no valid message (RFC 5043 section 5.2.3). */
    static @Nullable ControlMessage read(WireBuffer buffer, int offset, int length) {
        if (length < ChunkFlyweight.CONTROL_HEADER_LENGTH || length > ChunkFlyweight.MAX_CONTROL_LENGTH) {
            return null;
        }
        FunctionCode code = FunctionCode.of(ChunkFlyweight.functionCode(buffer, offset));
        if (code == null) {
            return null;
        }
        int consumed = ChunkFlyweight.CONTROL_HEADER_LENGTH;
        if (code == FunctionCode.TERMINATE) {
            return length == consumed ? TERMINATE : null;
        }
        EnhancedData data = null;
        if (code.isEnhanced()) {
            if (length < consumed + EnhancedData.LENGTH) {
                return null;
            }
            data = EnhancedData.decode(buffer.getInt(offset + consumed));
            consumed += EnhancedData.LENGTH;
        }
        byte[] privateData = new byte[length - consumed];
        buffer.getBytes(offset + consumed, privateData, 0, privateData.length);
        return new ControlMessage(code, data, privateData);
    }

    /**
     * Writes the message.
     *
     * @return bytes written
     */
    int write(WireBuffer buffer, int offset, int ssn) {
        int length = ChunkFlyweight.controlHeader(buffer, offset, ssn, code);
        if (data != null) {
            buffer.putInt(offset + length, data.encode());
            length += EnhancedData.LENGTH;
        }
        buffer.putBytes(offset + length, privateData, 0, privateData.length);
        return length + privateData.length;
    }
}
