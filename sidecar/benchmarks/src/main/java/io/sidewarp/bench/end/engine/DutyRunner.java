// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.netty.channel.EventLoop;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.engine.verbs.CompletionQueue;
import java.util.concurrent.CompletableFuture;

/** Runs a duty until it ends, with a strategy of {@link Waiting}. */
final class DutyRunner {

    private final Duty duty;
    private final EventLoop loop;
    private final CompletionQueue completions;
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Runnable onNotification = this::untilIdle;
    private final Runnable onTurn = this::turn;
    private volatile boolean stopped;

    private DutyRunner(Duty duty, EventLoop loop, CompletionQueue completions) {
        this.duty = duty;
        this.loop = loop;
        this.completions = completions;
    }

    /** Starts a duty on the event loop or on a thread of its own. */
    static DutyRunner start(Duty duty, Waiting waiting, EventLoop loop, CompletionQueue completions) {
        DutyRunner runner = new DutyRunner(duty, loop, completions);
        switch (waiting) {
            case ADAPTIVE, SLEEP -> {
                if (!duty.followsCompletions()) {
                    throw new IllegalArgumentException(
                            "who waits for memory to change cannot sleep: let it spin or yield");
                }
                loop.execute(runner.onNotification);
            }
            case SPIN -> loop.execute(runner.onTurn);
            case YIELD -> Thread.ofPlatform().daemon().name("bench-application").start(runner::onThread);
        }
        return runner;
    }

    /** Returns a future that completes when the duty is done or stopped, or has failed. */
    CompletableFuture<Void> finished() {
        return finished;
    }

    /** Ends the duty at its next turn, if there is one. */
    void stop() {
        stopped = true;
        loop.execute(onNotification);
    }

    private void untilIdle() {
        try {
            boolean busy = true;
            while (busy && goesOn()) {
                busy = duty.poll();
            }
            if (goesOn()) {
                completions.requestNotification(onNotification, false);
            }
        } catch (RuntimeException | Error e) {
            finished.completeExceptionally(e);
        }
    }

    private void turn() {
        try {
            duty.poll();
            if (goesOn()) {
                loop.execute(onTurn);
            }
        } catch (RuntimeException | Error e) {
            finished.completeExceptionally(e);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // The event loop may share the processor with this thread.
    private void onThread() {
        try {
            while (goesOn()) {
                if (!duty.poll()) {
                    Thread.yield();
                }
            }
        } catch (RuntimeException | Error e) {
            finished.completeExceptionally(e);
        }
    }

    private boolean goesOn() {
        if (!stopped && !duty.isDone()) {
            return true;
        }
        finished.complete(null);
        return false;
    }
}
