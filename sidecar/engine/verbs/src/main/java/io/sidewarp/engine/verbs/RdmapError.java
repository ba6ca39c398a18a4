// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.memory.AccessCheck;

/** Errors of RDMAP with exactly the numbers of RFC 5040 section 4.8, figure 9. */
public enum RdmapError implements ProtocolError {
    LOCAL_CATASTROPHIC(0x0, 0x00, "Local Catastrophic Error"),

    INVALID_STAG(0x1, 0x00, "Invalid STag"),
    BASE_OR_BOUNDS(0x1, 0x01, "Base or bounds violation"),
    ACCESS_RIGHTS(0x1, 0x02, "Access rights violation"),
    STAG_NOT_ASSOCIATED(0x1, 0x03, "STag not associated with RDMAP Stream"),
    TO_WRAP(0x1, 0x04, "TO wrap"),
    /** The STag exists, but it belongs to another stream or is shared. */
    PROTECTED_STAG_NOT_INVALIDATED(0x1, 0x09, "STag cannot be Invalidated"),

    INVALID_VERSION(0x2, 0x05, "Invalid RDMAP version"),
    UNEXPECTED_OPCODE(0x2, 0x06, "Unexpected OpCode"),
    CATASTROPHIC_STREAM(0x2, 0x07, "Catastrophic error, localized to RDMAP Stream"),
    CATASTROPHIC_GLOBAL(0x2, 0x08, "Catastrophic error, global"),
    STAG_NOT_INVALIDATED(0x2, 0x09, "STag cannot be Invalidated"),
    UNSPECIFIED_OPERATION(0x2, 0xFF, "Unspecified Error");

    /** Error type Remote Protection. */
    public static final int TYPE_REMOTE_PROTECTION = 0x1;

    private final int type;
    private final int code;
    private final String description;

    RdmapError(int type, int code, String description) {
        this.type = type;
        this.code = code;
        this.description = description;
    }

    /** Returns the error of a request that names memory which it may not access (RFC 5040 section 7.2). */
    public static RdmapError of(AccessCheck check) {
        return switch (check) {
            case OK, INVALID_STAG -> INVALID_STAG;
            case NOT_ASSOCIATED -> STAG_NOT_ASSOCIATED;
            case NO_RIGHT -> ACCESS_RIGHTS;
            case BOUNDS -> BASE_OR_BOUNDS;
            case WRAP -> TO_WRAP;
        };
    }

    @Override
    public int layer() {
        return 0;
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
