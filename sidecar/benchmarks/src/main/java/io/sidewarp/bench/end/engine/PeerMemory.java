// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.engine.memory.MemoryRegion;
import java.nio.ByteBuffer;

/**
 * What an end tells the other in the private data of start-up.
 *
 * @param connection index in the plan
 * @param stag of the region
 * @param taggedOffset of its first octet
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
