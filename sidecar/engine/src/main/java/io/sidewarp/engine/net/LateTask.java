// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;

/**
 * A task of an event loop that lets others go first: it runs behind the tasks that the loop has when it is asked for, behind
 * those that the same turn of the loop adds, and behind what these leave, as many times over as wanted. It can be asked for again
 * when it has run. Allocates nothing.
 */
public final class LateTask {

    private final EventLoop loop;
    private final Runnable task;
    private final int rounds;
    private final Runnable round = this::round;
    private int left;
    private boolean pending;

    /** @param rounds how many times it goes to the end of the loop's tasks, when its turn comes */
    public LateTask(EventLoop loop, int rounds, Runnable task) {
        this.loop = loop;
        this.rounds = rounds;
        this.task = task;
    }

    /** To be called on the loop. Does nothing when it was asked for and has not run yet. */
    public void request() {
        if (!pending) {
            pending = true;
            left = rounds;
            loop.execute(round);
        }
    }

    private void round() {
        if (left > 0) {
            left--;
            loop.execute(round);
        } else {
            pending = false;
            task.run();
        }
    }
}
