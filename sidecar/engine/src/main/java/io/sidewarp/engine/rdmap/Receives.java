// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.Nullable;

/** Where the messages of one stream find their receives. The stream's event loop only. */
public abstract class Receives {

    private Receives() {}

    /** The receives of a queue that the stream has for itself. */
    public static Receives of(WorkQueue queue) {
        return of(queue, () -> {});
    }

    /** @param supply runs when a message finds no receive, and may post some */
    public static Receives of(WorkQueue queue, Runnable supply) {
        return new Own(queue, supply);
    }

    /** Receives that it shares with other streams. */
    public static Receives of(SharedReceives shared) {
        return of(shared, () -> {});
    }

    /** @param supply runs when a message finds no receive, and may post some */
    public static Receives of(SharedReceives shared, Runnable supply) {
        return new Shared(shared, supply);
    }

    /** The receive of the message that arrives now, or null when there is none. */
    abstract @Nullable Wqe current();

    /** The receive that belongs to this stream already, or null. */
    abstract @Nullable Wqe held();

    /** The receive of the current message is about to be told to be complete: whoever hears of it may post another. */
    abstract void complete();

    /** The receive of the current message was told to be complete. */
    abstract void retire();

    private static final class Own extends Receives {

        private final WorkQueue queue;
        private final Runnable supply;

        Own(WorkQueue queue, Runnable supply) {
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
