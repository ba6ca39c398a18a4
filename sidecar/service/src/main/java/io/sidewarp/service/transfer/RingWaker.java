// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

/** Socket of a completion ring, toward the application. Called on the session's thread. */
public interface RingWaker {

    /** Placeholder for a missing socket. */
    RingWaker NONE = new RingWaker() {
        @Override
        public void wake(long ring) {}

        @Override
        public void ended(long ring, String reason) {}

        @Override
        public void close() {}
    };

    /** Wakes the application to look at a ring. */
    void wake(long ring);

    /** Notifies the application that a ring has ended. */
    void ended(long ring, String reason);

    /** Closes the socket. */
    void close();
}
