// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

/** The application's end of the socket of a completion ring. Called on the session's thread. */
public interface RingWaker {

    /** A socket that is not there, or not any more. */
    RingWaker NONE = new RingWaker() {
        @Override
        public void wake(long ring) {}

        @Override
        public void ended(long ring, String reason) {}

        @Override
        public void close() {}
    };

    /** Tells the application to look at a ring. */
    void wake(long ring);

    /** Tells the application that a ring has ended. */
    void ended(long ring, String reason);

    /** Closes the socket. */
    void close();
}
