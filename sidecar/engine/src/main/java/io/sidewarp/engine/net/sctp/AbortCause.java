// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.nio.charset.StandardCharsets;

/** Reads for people what an ABORT chunk says (RFC 4960 sections 3.3.7 and 3.3.10). */
public final class AbortCause {

    private static final int CAUSE_HEADER_LENGTH = 4;
    private static final int USER_INITIATED_ABORT = 12;
    private static final int LONGEST_REASON = 128;

    private AbortCause() {}

    /**
     * Says what a chunk with these error causes means.
     *
     * @param cause offset of the first error cause
     * @param end offset behind the last one
     */
    public static String describe(WireBuffer packet, int cause, int end) {
        if (cause + CAUSE_HEADER_LENGTH > end) {
            return "the peer aborted the association";
        }
        int code = packet.getUnsignedShort(cause);
        int length = Math.min(packet.getUnsignedShort(cause + 2), end - cause) - CAUSE_HEADER_LENGTH;
        if (code != USER_INITIATED_ABORT || length <= 0) {
            return "the peer aborted the association with cause code " + code;
        }
        byte[] reason = new byte[Math.min(length, LONGEST_REASON)];
        packet.getBytes(cause + CAUSE_HEADER_LENGTH, reason, 0, reason.length);
        String text = new String(reason, StandardCharsets.UTF_8).replaceAll("\\p{Cc}", "?");
        return "the peer aborted the association: " + text;
    }
}
