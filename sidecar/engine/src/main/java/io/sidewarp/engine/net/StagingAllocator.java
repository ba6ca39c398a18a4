// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import java.util.function.Supplier;

/** Lets channels read into a buffer of the loop instead of one from a pool: no allocation, always warm. */
public final class StagingAllocator extends DefaultMaxMessagesRecvByteBufAllocator {

    private final Supplier<ByteBuf> target;
    private final int capacity;

    /**
     * Creates an allocator.
     *
     * @param target gives the view to read into, with one reference for the channel
     * @param capacity octets of a buffer
     * @param readsPerTurn reads in a row before other channels of the loop get their turn
     */
    public StagingAllocator(Supplier<ByteBuf> target, int capacity, int readsPerTurn) {
        super(readsPerTurn);
        this.target = target;
        this.capacity = capacity;
    }

    @Override
    @SuppressWarnings("deprecation") // the type that the channel configuration asks for
    public Handle newHandle() {
        return new MaxMessageHandle() {
            @Override
            public ByteBuf allocate(ByteBufAllocator ignored) {
                return target.get();
            }

            @Override
            public int guess() {
                return capacity;
            }
        };
    }
}
