// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Errors of DDP with exactly the numbers of RFC 5041 section 7.2. */
public enum DdpError implements ProtocolError {
    LOCAL_CATASTROPHIC(0x0, 0x00, "Local Catastrophic"),

    /** Section 7.1, tagged check 1. */
    INVALID_STAG(0x1, 0x00, "Invalid STag"),
    /** Section 7.1, tagged checks 3 and 4. */
    BASE_OR_BOUNDS(0x1, 0x01, "Base or bounds violation"),
    /** Section 7.1, tagged check 2. */
    STAG_NOT_ASSOCIATED(0x1, 0x02, "STag not associated with DDP Stream"),
    /** Section 7.1, tagged check 5. */
    TO_WRAP(0x1, 0x03, "TO wrap"),
    TAGGED_VERSION(0x1, 0x04, "Invalid DDP version"),

    /** Section 7.1, untagged check 1. */
    INVALID_QN(0x2, 0x01, "Invalid QN"),
    /** Section 7.1, untagged check 2. */
    MSN_NO_BUFFER(0x2, 0x02, "Invalid MSN - no buffer available"),
    /** Section 7.1, untagged check 5. */
    MSN_RANGE(0x2, 0x03, "Invalid MSN - MSN range is not valid"),
    /** Section 7.1, untagged check 3. */
    INVALID_MO(0x2, 0x04, "Invalid MO"),
    /** Section 7.1, untagged check 4. */
    MESSAGE_TOO_LONG(0x2, 0x05, "DDP Message too long for available buffer"),
    UNTAGGED_VERSION(0x2, 0x06, "Invalid DDP version");

    private final int type;
    private final int code;
    private final String description;

    DdpError(int type, int code, String description) {
        this.type = type;
        this.code = code;
        this.description = description;
    }

    @Override
    public int layer() {
        return 1;
    }

    @Override
    public int type() {
        return type;
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
