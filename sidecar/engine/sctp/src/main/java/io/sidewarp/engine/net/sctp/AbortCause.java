// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Translates the error causes of an ABORT chunk into words for people (RFC 4960 sections 3.3.7 and 3.3.10). */
public final class AbortCause {

    /** Result of {@link #describe} when the peer has no room for the association. */
    public static final String NO_ROOM = "the peer has no room for the association (Out of Resource)";

    static final int CAUSE_HEADER_LENGTH = 4;
    static final int OUT_OF_RESOURCE = 4;
    private static final int USER_INITIATED_ABORT = 12;
    private static final int PROTOCOL_VIOLATION = 13;
    private static final int LONGEST_REASON = 128;

    private AbortCause() {}

    /**
     * Describes an ABORT chunk of the peer with these error causes.
     *
     * @param cause offset of the first error cause
     * @param end offset behind the last one
     */
    public static String describe(WireBuffer packet, int cause, int end) {
        return cause + CAUSE_HEADER_LENGTH <= end && packet.getUnsignedShort(cause) == OUT_OF_RESOURCE
                ? NO_ROOM
                : "the peer aborted the association" + particulars(packet, cause, end);
    }

    /**
     * Describes an ABORT chunk of this side's SCTP.
     *
     * @return null when the chunk has no cause, as when the peer did not answer
     */
    static @Nullable String describeOwn(WireBuffer packet, int cause, int end) {
        String particulars = particulars(packet, cause, end);
        return particulars.isEmpty() ? null : "what the peer sent made SCTP abort the association" + particulars;
    }

    private static String particulars(WireBuffer packet, int cause, int end) {
        if (cause + CAUSE_HEADER_LENGTH > end) {
            return "";
        }
        int code = packet.getUnsignedShort(cause);
        int length = Math.min(packet.getUnsignedShort(cause + 2), end - cause) - CAUSE_HEADER_LENGTH;
        String named = code == USER_INITIATED_ABORT && length > 0 ? "" : " with cause code " + code;
        if (length <= 0 || code != USER_INITIATED_ABORT && code != PROTOCOL_VIOLATION) {
            return named;
        }
        byte[] reason = new byte[Math.min(length, LONGEST_REASON)];
        packet.getBytes(cause + CAUSE_HEADER_LENGTH, reason, 0, reason.length);
        return named + ": " + new String(reason, StandardCharsets.UTF_8).replaceAll("\\p{Cc}", "?");
    }
}
