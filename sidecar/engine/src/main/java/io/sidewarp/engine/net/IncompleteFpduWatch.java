// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Sees to it that a peer which never sends the rest of an FPDU does not hold a buffer for ever. One timer serves all FPDUs
 * that come in parts: it looks whether the one that was incomplete when it was set still is. On the connection's loop.
 */
final class IncompleteFpduWatch implements Runnable {

    private final EventLoop loop;
    private final Duration timeout;
    private final Runnable onExpired;
    private boolean incomplete;
    private boolean scheduled;
    private long fpdus;
    private long checked;

    IncompleteFpduWatch(EventLoop loop, Duration timeout, Runnable onExpired) {
        this.loop = loop;
        this.timeout = timeout;
        this.onExpired = onExpired;
    }

    /** An FPDU came in part. */
    void begin() {
        incomplete = true;
        fpdus++;
        schedule();
    }

    /** The rest is here, or the connection is over. */
    void end() {
        incomplete = false;
    }

    private void schedule() {
        if (!scheduled && incomplete) {
            scheduled = true;
            checked = fpdus;
            loop.schedule(this, timeout.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public void run() {
        scheduled = false;
        if (incomplete && fpdus == checked) {
            onExpired.run();
        } else {
            schedule();
        }
    }
}
