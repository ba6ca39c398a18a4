// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

/**
 * When something of the device is given back to it: after it was closed here, and no earlier than what the device uses it
 * for. A queue pair may be the device's for longer than it is the application's.
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

    /** Without effect the second time. */
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
            // Nobody comes behind the last one.
            users = -1;
        }
        destruction.run();
    }
}
