// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Errors of the lower layer in a Terminate: layer 0x2, type 0x0. RFC 5044 section 8 and RFC 6581 section 9 define them,
 * and RFC 6580 registers them.
 */
public enum LlpError implements ProtocolError {
    /** TCP connection closed, terminated or lost (RFC 5044 section 8, error 1). */
    CONNECTION_LOST(0x01, "connection closed, terminated or lost"),
    /** Received MPA CRC does not match the calculated value (error 2). */
    CRC_MISMATCH(0x02, "MPA CRC error"),
    /** MPA Marker and ULPDU Length disagree on the start of an FPDU (error 3). */
    MARKER_MISMATCH(0x03, "MPA Marker and ULPDU Length field do not agree on the start of an FPDU"),
    /** Invalid MPA Request or Reply frame (error 4). */
    INVALID_STARTUP_FRAME(0x04, "Invalid MPA Request or Response frame"),
    /** Local catastrophic error during enhanced start-up (RFC 6581 section 9.3). */
    LOCAL_CATASTROPHIC(0x05, "Local catastrophic error"),
    /** Not enough IRD resources (RFC 6581 section 9.1). */
    INSUFFICIENT_IRD(0x06, "Insufficient IRD resources"),
    /** No matching ready-to-receive option (RFC 6581 section 9.2). */
    NO_MATCHING_RTR(0x07, "No matching RTR option");

    /** Error type of all these errors. */
    public static final int ERROR_TYPE = 0x0;

    private final int code;
    private final String description;

    LlpError(int code, String description) {
        this.code = code;
        this.description = description;
    }

    @Override
    public int layer() {
        return 2;
    }

    @Override
    public int type() {
        return ERROR_TYPE;
    }

    @Override
    public int code() {
        return code;
    }

    @Override
    public String description() {
        return description;
    }
}
