// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

/**
 * Decides when an object is given back to the device: after the application has closed it and all its users are
 * released. The device may use a queue pair for longer than the application does.
 */
final class Lifetime {

    private final Runnable destruction;
    private int users;
    private boolean closed;

    Lifetime(Runnable destruction) {
        this.destruction = destruction;
    }

    synchronized void retain() {
        users++;
    }

    void release() {
        synchronized (this) {
            users--;
        }
        destroyIfDue();
    }

    /** Closes the object. A second call has no effect. */
    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        destroyIfDue();
    }

    private void destroyIfDue() {
        synchronized (this) {
            if (!closed || users != 0) {
                return;
            }
            // Prevents a second destruction.
            users = -1;
        }
        destruction.run();
    }
}
