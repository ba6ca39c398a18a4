// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.Optional;

/**
 * An error that ended a stream, in the numbers of a Terminate message (RFC 5040 section 4.8).
 *
 * @param layer 0 RDMAP, 1 DDP, 2 LLP
 * @param type error type, 0 to 15
 * @param code error code, 0 to 255
 * @param name name of the error in the RFC
 * @param remote true when the peer reported the error in a Terminate
 * @param detail description of the fault as this side sees it, for people; may be empty
 */
public record StreamError(int layer, int type, int code, String name, boolean remote, String detail) {

    /**
     * Type that RNICs use for MPA errors. RFC 5041 section 7.2 reserves this DDP type for the LLP, while RFC 5044 and
     * RFC 6581 use type 0. The codes are the same.
     */
    private static final int LLP_TYPE_OF_RNICS = 3;

    /** Creates an error that was found on this side. */
    public static StreamError local(ProtocolError cause, String detail) {
        return new StreamError(cause.layer(), cause.type(), cause.code(), cause.description(), false, detail);
    }

    /** True when the lower layer was lost and neither side found a protocol error. */
    public boolean isConnectionLost() {
        return !remote && layer == LlpError.CONNECTION_LOST.layer() && code == LlpError.CONNECTION_LOST.code();
    }

    /** Returns the RFC's error with these numbers, if there is one. A peer may report any numbers. */
    public Optional<ProtocolError> definition() {
        return definition(layer, type, code);
    }

    /** Returns the error of the RFCs that these numbers stand for. */
    public static Optional<ProtocolError> definition(int layer, int type, int code) {
        ProtocolError[] known = switch (layer) {
            case 0 -> RdmapError.values();
            case 1 -> DdpError.values();
            case 2 -> LlpError.values();
            default -> new ProtocolError[0];
        };
        int definedType = layer == 2 && type == LLP_TYPE_OF_RNICS ? LlpError.ERROR_TYPE : type;
        for (ProtocolError error : known) {
            if (error.type() == definedType && error.code() == code) {
                return Optional.of(error);
            }
        }
        return Optional.empty();
    }

    @Override
    public String toString() {
        return "%s (layer 0x%x, type 0x%x, code 0x%02x, %s)%s%s"
                .formatted(
                        name,
                        layer,
                        type,
                        code,
                        remote ? "reported by the peer" : "found here",
                        detail.isEmpty() ? "" : ": ",
                        detail);
    }
}
