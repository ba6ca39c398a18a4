// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;

/**
 * A task of an event loop that may run for long, in shares. An event loop runs up to 64 tasks between two looks at its
 * sockets, including tasks that tasks add. A stream that continued only by tasks would make other connections wait for
 * all of them.
 *
 * <p>The task therefore gets a few shares of each turn of the loop, and continues in the next turn. Belongs to the
 * loop.
 */
final class TurnShare {

    /**
     * Shares in a turn of the loop. The application learns of the completions of both shares at once, because it waits
     * for a {@link DeferredTask}.
     */
    private static final int SHARES = 2;

    private final SingleThreadEventLoop loop;
    private final Runnable task;
    private final Runnable onTurnEnd = this::onTurnEnd;
    private int used;
    private boolean waiting;

    /** @param loop of a socket, of the type that Netty uses */
    TurnShare(EventLoop loop, Runnable task) {
        this.loop = (SingleThreadEventLoop) loop;
        this.task = task;
    }

    /** Runs the task in this turn of the loop, or in the next turn when the shares of this turn are used up. */
    void request() {
        if (used < SHARES) {
            loop.execute(task);
        } else {
            waiting = true;
        }
    }

    /**
     * Notes that the task used a whole share. A task that does less need not call this, because it continues only with
     * new work.
     */
    void use() {
        if (used == 0) {
            loop.executeAfterEventLoopIteration(onTurnEnd);
        }
        used++;
    }

    private void onTurnEnd() {
        used = 0;
        if (waiting) {
            waiting = false;
            loop.execute(task);
        }
    }
}
