// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Atomic Response header (RFC 7306 section 5.2.2, figure 6), 12 bytes after the untagged DDP header. Section 4 says 32
 * bytes, because it counts the MPA length and the DDP header as well.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                  Original Request Identifier                  |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |               Original Remote Data Value (64 bits)            |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class AtomicResponseFlyweight {

    public static final int ORIGINAL_REQUEST_IDENTIFIER_OFFSET = 0;
    public static final int ORIGINAL_REMOTE_DATA_VALUE_OFFSET = 4;
    /** Bytes of the header. */
    public static final int LENGTH = 12;

    private final WireBuffer buffer;

    /** Lies over a buffer from its first byte on. */
    public AtomicResponseFlyweight(WireBuffer buffer) {
        this.buffer = buffer;
    }

    /** Writes the whole header. */
    public void set(int originalRequestIdentifier, long originalRemoteDataValue) {
        buffer.putInt(ORIGINAL_REQUEST_IDENTIFIER_OFFSET, originalRequestIdentifier);
        buffer.putLong(ORIGINAL_REMOTE_DATA_VALUE_OFFSET, originalRemoteDataValue);
    }

    public int originalRequestIdentifier() {
        return buffer.getInt(ORIGINAL_REQUEST_IDENTIFIER_OFFSET);
    }

    public long originalRemoteDataValue() {
        return buffer.getLong(ORIGINAL_REMOTE_DATA_VALUE_OFFSET);
    }
}
