// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Wakes an event loop to look for work that other threads have posted. One wake-up serves all work that is posted until
 * the loop looks.
 *
 * <p>A poster publishes its work and then checks whether the bell is rung. The loop resets the bell and then looks for
 * work. A full fence orders the two steps on each side, which prevents a lost wake-up.
 */
final class Doorbell {

    private final Runnable lookForWork;
    private final Runnable answer = this::answer;
    private final AtomicBoolean rung = new AtomicBoolean();

    Doorbell(Runnable lookForWork) {
        this.lookForWork = lookForWork;
    }

    /** Rings for published work, on a thread that is not the loop's. */
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
