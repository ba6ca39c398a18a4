// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpError;
import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.ProtocolError;
import org.jspecify.annotations.Nullable;

/**
 * An error that ended a stream, in the numbers of a Terminate message (RFC 5040 section 4.8).
 *
 * @param layer 0 RDMAP, 1 DDP, 2 LLP
 * @param type error type, 0 to 15
 * @param code error code, 0 to 255
 * @param name as the RFC words it
 * @param remote true when the peer reported it in a Terminate
 */
public record StreamError(int layer, int type, int code, String name, boolean remote) {

    /** Whether it is one of the errors that the RFCs define; a peer may report any numbers. */
    public boolean isDefined() {
        return defined(layer, type, code) != null;
    }

    /** The error with these numbers, or null when the RFCs define none. */
    static @Nullable ProtocolError defined(int layer, int type, int code) {
        ProtocolError[] known = switch (layer) {
            case 0 -> RdmapError.values();
            case 1 -> DdpError.values();
            case 2 -> LlpError.values();
            default -> new ProtocolError[0];
        };
        for (ProtocolError error : known) {
            if (error.type() == type && error.code() == code) {
                return error;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return "%s (layer 0x%x, type 0x%x, code 0x%02x, %s)"
                .formatted(name, layer, type, code, remote ? "reported by the peer" : "found here");
    }
}
