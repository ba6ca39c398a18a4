// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/**
 * Location of one side's memory for a connection. The message also reports that its sender has reached this step.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                       LID (of InfiniBand)                     |
 *   +---------------------------------------------------------------+
 *   |                   Outstanding RDMA Reads                      |
 *   +---------------------------------------------------------------+
 *   |                          Queue pair                           |
 *   +---------------------------------------------------------------+
 *   |                  Packet number (of InfiniBand)                |
 *   +---------------------------------------------------------------+
 *   |                             STag                              |
 *   +---------------------------------------------------------------+
 *   |                     Shared receive queue                      |
 *   +---------------------------------------------------------------+
 *   |                         Tagged offset                         |
 *   |                                                               |
 *   +---------------------------------------------------------------+
 *   |             GID, its index and padding (24 bytes)             |
 *   +---------------------------------------------------------------+
 * </pre>
 *
 * All integers are big-endian. Fields that only InfiniBand has are zero here.
 */
record Destination(int outstandingReads, int queuePair, RemoteAddress address) {

    static final int LENGTH = 56;

    /** Destination before there is memory. */
    static final Destination NONE = new Destination(0, 0, new RemoteAddress(0, 0));

    private static final int OUTSTANDING_READS_OFFSET = 4;
    private static final int QUEUE_PAIR_OFFSET = 8;
    private static final int STAG_OFFSET = 16;
    private static final int TAGGED_OFFSET_OFFSET = 24;

    static Destination decode(ByteBuffer source) {
        return new Destination(
                source.getInt(OUTSTANDING_READS_OFFSET),
                source.getInt(QUEUE_PAIR_OFFSET),
                new RemoteAddress(source.getInt(STAG_OFFSET), source.getLong(TAGGED_OFFSET_OFFSET)));
    }

    ByteBuffer encode() {
        return ByteBuffer.allocate(LENGTH)
                .putInt(OUTSTANDING_READS_OFFSET, outstandingReads)
                .putInt(QUEUE_PAIR_OFFSET, queuePair)
                .putInt(STAG_OFFSET, address.stag())
                .putLong(TAGGED_OFFSET_OFFSET, address.taggedOffset());
    }
}
