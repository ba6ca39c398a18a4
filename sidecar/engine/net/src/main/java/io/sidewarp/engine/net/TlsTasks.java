// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLEngine;

/** Slow parts of the handshake of one TLS stream, which run on the threads of {@link TlsWorkers}. Belongs to one event loop. */
final class TlsTasks {

    private final SSLEngine engine;
    private final EventLoop loop;
    private final TlsWorkers workers;
    private final Runnable done;
    private boolean running;

    /** @param done called on the loop when no task is left */
    TlsTasks(SSLEngine engine, EventLoop loop, TlsWorkers workers, Runnable done) {
        this.engine = engine;
        this.loop = loop;
        this.workers = workers;
        this.done = done;
    }

    /** Returns whether a task runs. The engine must not be called then. */
    boolean isRunning() {
        return running;
    }

    /**
     * Runs the tasks of the engine.
     *
     * @throws RejectedExecutionException if too many tasks of this process wait
     */
    void run() {
        workers.execute(() -> {
            Runnable task = engine.getDelegatedTask();
            while (task != null) {
                task.run();
                task = engine.getDelegatedTask();
            }
            tellLoop();
        });
        running = true;
    }

    private void tellLoop() {
        try {
            loop.execute(() -> {
                running = false;
                done.run();
            });
        } catch (RejectedExecutionException e) {
            // The loop has ended, and all of its connections with it.
        }
    }
}
