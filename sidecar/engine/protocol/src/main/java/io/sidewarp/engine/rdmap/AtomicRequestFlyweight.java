// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Atomic Request header (RFC 7306 section 5.2.1), 52 bytes after the untagged DDP header.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                       Reserved                        |AOpCode|
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                      Request Identifier                       |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                          Remote STag                          |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                  Remote Tagged Offset (64 bits)               |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                   Add or Swap Data (64 bits)                  |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                   Add or Swap Mask (64 bits)                  |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                     Compare Data (64 bits)                    |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                     Compare Mask (64 bits)                    |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class AtomicRequestFlyweight {

    public static final int AOPCODE_OFFSET = 0;
    public static final int REQUEST_IDENTIFIER_OFFSET = 4;
    public static final int REMOTE_STAG_OFFSET = 8;
    public static final int REMOTE_TO_OFFSET = 12;
    public static final int ADD_SWAP_DATA_OFFSET = 20;
    public static final int ADD_SWAP_MASK_OFFSET = 28;
    public static final int COMPARE_DATA_OFFSET = 36;
    public static final int COMPARE_MASK_OFFSET = 44;
    /** Atomic Operation Codes (section 5.2.1, figure 5). All other values are reserved or unassigned. */
    public static final int FETCH_ADD = 0x0;

    public static final int CMP_SWAP = 0x2;

    /** Bytes of the header. */
    public static final int LENGTH = 52;

    private static final int AOPCODE_MASK = 0x0F;

    private final WireBuffer buffer;

    /** Lies over a buffer from its first byte on. */
    public AtomicRequestFlyweight(WireBuffer buffer) {
        this.buffer = buffer;
    }

    /** Writes the fields that every request has, with reserved bits zero. */
    public AtomicRequestFlyweight set(int aOpCode, int requestIdentifier, int remoteStag, long remoteTo) {
        buffer.putInt(AOPCODE_OFFSET, aOpCode);
        buffer.putInt(REQUEST_IDENTIFIER_OFFSET, requestIdentifier);
        buffer.putInt(REMOTE_STAG_OFFSET, remoteStag);
        buffer.putLong(REMOTE_TO_OFFSET, remoteTo);
        return this;
    }

    /** Writes the operands. A FetchAdd has Compare Data 0 and a Compare Mask of ones. */
    public void operands(long addSwapData, long addSwapMask, long compareData, long compareMask) {
        buffer.putLong(ADD_SWAP_DATA_OFFSET, addSwapData);
        buffer.putLong(ADD_SWAP_MASK_OFFSET, addSwapMask);
        buffer.putLong(COMPARE_DATA_OFFSET, compareData);
        buffer.putLong(COMPARE_MASK_OFFSET, compareMask);
    }

    /** Atomic Operation Code; the reserved bits are ignored. */
    public int aOpCode() {
        return buffer.getInt(AOPCODE_OFFSET) & AOPCODE_MASK;
    }

    public int requestIdentifier() {
        return buffer.getInt(REQUEST_IDENTIFIER_OFFSET);
    }

    public int remoteStag() {
        return buffer.getInt(REMOTE_STAG_OFFSET);
    }

    public long remoteTo() {
        return buffer.getLong(REMOTE_TO_OFFSET);
    }

    public long addSwapData() {
        return buffer.getLong(ADD_SWAP_DATA_OFFSET);
    }

    public long addSwapMask() {
        return buffer.getLong(ADD_SWAP_MASK_OFFSET);
    }

    public long compareData() {
        return buffer.getLong(COMPARE_DATA_OFFSET);
    }

    public long compareMask() {
        return buffer.getLong(COMPARE_MASK_OFFSET);
    }
}
