// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.engine.memory.MemoryRegion;
import java.nio.ByteBuffer;

/**
 * Private data of start-up, which describes an end's memory to its peer.
 *
 * @param connection index of the connection in the plan
 * @param stag STag of the region
 * @param taggedOffset tagged offset of the first byte of the region
 */
record PeerMemory(int connection, int stag, long taggedOffset) {

    private static final int LENGTH = 16;

    byte[] encode() {
        return ByteBuffer.allocate(LENGTH)
                .putInt(connection)
                .putInt(stag)
                .putLong(taggedOffset)
                .array();
    }

    static PeerMemory decode(byte[] privateData) {
        ByteBuffer buffer = ByteBuffer.wrap(privateData);
        return new PeerMemory(buffer.getInt(), buffer.getInt(), buffer.getLong());
    }

    static PeerMemory of(int connection, MemoryRegion region) {
        return new PeerMemory(connection, region.stag(), region.baseTaggedOffset());
    }
}
