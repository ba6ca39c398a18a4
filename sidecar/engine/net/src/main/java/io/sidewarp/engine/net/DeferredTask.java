// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;

/**
 * A task of an event loop that lets other tasks go first. It runs after the tasks that the loop already has, and after
 * the tasks that the same turn of the loop adds. It can repeat this for a number of rounds, so that the follow-up tasks
 * of those tasks also go first. It can be requested again after it has run. Allocates nothing.
 */
public final class DeferredTask {

    private final EventLoop loop;
    private final Runnable task;
    private final int rounds;
    private final Runnable round = this::round;
    private int left;
    private boolean pending;

    /** @param rounds how many times the task moves to the end of the loop's tasks when its turn comes */
    public DeferredTask(EventLoop loop, int rounds, Runnable task) {
        this.loop = loop;
        this.rounds = rounds;
        this.task = task;
    }

    /** Requests a run. Call this on the loop. Does nothing when a requested run is still pending. */
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
