// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.util.function.Supplier;

/**
 * Lets channels read into a buffer of the loop instead of one from a pool: no allocation, always warm.
 *
 * <p>A channel that has read as often as it may in a turn, and has not read all, goes on at once when epoll tells of input
 * only when more comes (edge-triggered): before the loop asks epoll for other channels, and before what was to be done
 * because of this input. One whose epoll tells as long as there is input (level-triggered) is made to wait for that.
 */
public final class StagingAllocator extends DefaultMaxMessagesRecvByteBufAllocator {

    private final Supplier<ByteBuf> target;
    private final int capacity;
    private final boolean toldAgain;

    /**
     * Creates an allocator.
     *
     * @param target gives the view to read into, with one reference for the channel
     * @param capacity octets of a buffer
     * @param readsPerTurn reads in a row before other channels of the loop get their turn
     * @param toldAgain whether epoll tells the loop again of what was not read; not with NIO
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

        /** Behind its turn a channel goes on by itself if it has read as much as this says: never, when it is told again. */
        @Override
        public int attemptedBytesRead() {
            return super.attemptedBytesRead() + (toldAgain ? 1 : 0);
        }
    }
}
