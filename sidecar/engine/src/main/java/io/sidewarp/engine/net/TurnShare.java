// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;

/**
 * A task of an event loop that may go on for long, in shares. An event loop runs up to 64 tasks between two looks at its
 * sockets, also those that tasks leave: a stream which went on by tasks alone would have other connections wait for all of
 * them. So it has a few shares of each turn of the loop, and waits for the next turn with the rest. Belongs to the loop.
 */
final class TurnShare {

    /** Shares in a turn of the loop. The application learns of what both complete at once, as it waits for a {@link LateTask}. */
    private static final int SHARES = 2;

    private final SingleThreadEventLoop loop;
    private final Runnable task;
    private final Runnable onTurnEnd = this::onTurnEnd;
    private int used;
    private boolean waiting;

    /** @param loop of a socket, as Netty has them */
    TurnShare(EventLoop loop, Runnable task) {
        this.loop = (SingleThreadEventLoop) loop;
        this.task = task;
    }

    /** Has the task run in this turn of the loop, or in the next one when its shares of this one are used up. */
    void request() {
        if (used < SHARES) {
            loop.execute(task);
        } else {
            waiting = true;
        }
    }

    /** The task used a whole share. If it does less it need not tell, for it goes on only with what comes anew. */
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
