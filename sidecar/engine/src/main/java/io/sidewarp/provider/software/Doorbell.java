// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Has an event loop look for work that other threads have posted, once for all that is posted until it looks.
 *
 * <p>A poster publishes its work and then looks whether the bell is rung; the loop takes the bell back and then looks for
 * work. The full fence between keeps the second step of each behind its first, so that they cannot overlook each other.
 */
final class Doorbell {

    private final Runnable lookForWork;
    private final Runnable answer = this::answer;
    private final AtomicBoolean rung = new AtomicBoolean();

    Doorbell(Runnable lookForWork) {
        this.lookForWork = lookForWork;
    }

    /** Work was published, on a thread that is not the loop's. */
    void ring(Executor loop) {
        VarHandle.fullFence();
        if (!rung.get() && rung.compareAndSet(false, true)) {
            loop.execute(answer);
        }
    }

    private void answer() {
        rung.set(false);
        VarHandle.fullFence();
        lookForWork.run();
    }
}
