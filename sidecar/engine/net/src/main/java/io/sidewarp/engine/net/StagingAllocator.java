// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.util.function.Supplier;

/**
 * Lets channels read into a buffer of the loop instead of one from a pool. This buffer is always warm and needs no
 * allocation.
 *
 * <p>A channel may have used up its reads of a turn without reading all input. With edge-triggered epoll it continues
 * at once: before the loop asks epoll for other channels, and before the tasks that follow from this input. With
 * level-triggered epoll the channel waits until epoll reports the input again.
 */
public final class StagingAllocator extends DefaultMaxMessagesRecvByteBufAllocator {

    private final Supplier<ByteBuf> target;
    private final int capacity;
    private final boolean toldAgain;

    /**
     * Creates an allocator.
     *
     * @param target returns the view to read into, with one reference for the channel
     * @param capacity bytes of a buffer
     * @param readsPerTurn reads in a row before other channels of the loop get their turn
     * @param toldAgain whether epoll is level-triggered: it reports unread input again. Never with NIO.
     */
    public StagingAllocator(Supplier<ByteBuf> target, int capacity, int readsPerTurn, boolean toldAgain) {
        super(readsPerTurn);
        this.target = target;
        this.capacity = capacity;
        this.toldAgain = toldAgain;
    }

    @Override
    @SuppressWarnings("deprecation") // the type that the channel configuration asks for
    public Handle newHandle() {
        return new StagingHandle();
    }

    private final class StagingHandle extends MaxMessageHandle {

        private final UncheckedBooleanSupplier wasFilled = () -> lastBytesRead() == super.attemptedBytesRead();

        @Override
        public ByteBuf allocate(ByteBufAllocator ignored) {
            return target.get();
        }

        @Override
        public int guess() {
            return capacity;
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier mayBeMore) {
            return super.continueReading(toldAgain ? wasFilled : mayBeMore);
        }

        /**
         * After its turn, a channel continues by itself if it has read as much as this method returns. With
         * level-triggered epoll this never happens, because the result is one byte too large.
         */
        @Override
        public int attemptedBytesRead() {
            return super.attemptedBytesRead() + (toldAgain ? 1 : 0);
        }
    }
}
