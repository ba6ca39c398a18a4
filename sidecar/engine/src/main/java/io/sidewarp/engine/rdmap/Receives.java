// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.Nullable;

/** Where the messages of one stream find their receives. The stream's event loop only. */
public abstract class Receives {

    private Receives() {}

    /** The receives of a queue that the stream has for itself. */
    public static Receives of(WorkQueue queue) {
        return new Own(queue);
    }

    /** Receives that it shares with other streams. */
    public static Receives of(SharedReceives shared) {
        return new Shared(shared);
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

        Own(WorkQueue queue) {
            this.queue = queue;
        }

        @Override
        @Nullable
        Wqe current() {
            return queue.oldest();
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
        private @Nullable Wqe held;

        Shared(SharedReceives shared) {
            this.shared = shared;
        }

        @Override
        @Nullable
        Wqe current() {
            if (held == null) {
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
