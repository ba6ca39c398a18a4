// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;

/** Lets channels read into the loop's own buffer instead of one from a pool: no allocation, always warm. */
final class StagingAllocator extends DefaultMaxMessagesRecvByteBufAllocator {

    /** Reads in a row before other connections of the loop get their turn. */
    private static final int READS_PER_TURN = 8;

    private final StagingBuffer buffer;

    StagingAllocator(StagingBuffer buffer) {
        super(READS_PER_TURN);
        this.buffer = buffer;
    }

    @Override
    @SuppressWarnings("deprecation") // the type that the channel configuration asks for
    public Handle newHandle() {
        return new MaxMessageHandle() {
            @Override
            public ByteBuf allocate(ByteBufAllocator ignored) {
                return buffer.forReading();
            }

            @Override
            public int guess() {
                return buffer.wire().capacity();
            }
        };
    }
}
