// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.UntaggedBuffers;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Source of receives for the messages of one stream: the untagged buffers of queue number 0, in the order of posting.
 * Only the event loop of the stream may use it.
 */
public abstract class Receives implements UntaggedBuffers {

    private Receives() {}

    /**
     * Creates receives from a queue that belongs to this stream alone.
     *
     * @param supply action that runs when a message finds no receive, and that may post receives
     */
    public static Receives of(WqeQueue queue, Runnable supply) {
        return new Own(queue, supply);
    }

    /**
     * Creates receives from a queue that this stream shares with other streams.
     *
     * @param supply action that runs when a message finds no receive, and that may post receives
     */
    public static Receives of(SharedReceives shared, Runnable supply) {
        return new Shared(shared, supply);
    }

    /** Returns the receive of the message that is arriving, or null when no receive is posted. */
    abstract @Nullable Wqe current();

    /** Returns the receive that already belongs to this stream, or null. */
    abstract @Nullable Wqe held();

    /**
     * Frees the capacity of the current receive before its completion is reported, so that the consumer may post
     * another.
     */
    abstract void complete();

    /** Retires the current receive after its completion was reported. */
    abstract void retire();

    @Override
    public boolean available() {
        return current() != null;
    }

    @Override
    public long capacity() {
        Wqe receive = current();
        return receive == null ? 0 : receive.length();
    }

    @Override
    public void place(long messageOffset, WireBuffer source, int sourceOffset, int length) throws RegionFault {
        Wqe receive = current();
        if (receive != null) {
            receive.place(messageOffset, source, sourceOffset, length);
        }
    }

    private static final class Own extends Receives {

        private final WqeQueue queue;
        private final Runnable supply;

        Own(WqeQueue queue, Runnable supply) {
            this.queue = queue;
            this.supply = supply;
        }

        @Override
        @Nullable
        Wqe current() {
            Wqe oldest = queue.oldest();
            if (oldest == null) {
                supply.run();
                oldest = queue.oldest();
            }
            return oldest;
        }

        @Override
        @Nullable
        Wqe held() {
            return queue.oldest();
        }

        @Override
        void complete() {
            queue.complete();
        }

        @Override
        void retire() {
            queue.retire();
        }
    }

    private static final class Shared extends Receives {

        private final SharedReceives shared;
        private final Runnable supply;
        private @Nullable Wqe held;

        Shared(SharedReceives shared, Runnable supply) {
            this.shared = shared;
            this.supply = supply;
        }

        @Override
        @Nullable
        Wqe current() {
            if (held == null) {
                held = shared.take();
            }
            if (held == null) {
                supply.run();
                held = shared.take();
            }
            return held;
        }

        @Override
        @Nullable
        Wqe held() {
            return held;
        }

        @Override
        void complete() {
            shared.complete();
        }

        @Override
        void retire() {
            Wqe complete = held;
            if (complete != null) {
                held = null;
                shared.release(complete);
            }
        }
    }
}
