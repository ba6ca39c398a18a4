// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;

/** Lets channels read into the loop's own buffer instead of one from a pool: no allocation, always warm. */
public final class StagingAllocator extends DefaultMaxMessagesRecvByteBufAllocator {

    private final StagingBuffer buffer;

    /**
     * Creates an allocator.
     *
     * @param readsPerTurn reads in a row before other channels of the loop get their turn
     */
    public StagingAllocator(StagingBuffer buffer, int readsPerTurn) {
        super(readsPerTurn);
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
