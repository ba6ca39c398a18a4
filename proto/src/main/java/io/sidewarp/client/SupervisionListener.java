// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;

/** The application's part of a {@link SupervisedSession}. Called on one thread, which may block. */
@FunctionalInterface
public interface SupervisionListener {

    /**
     * All that was declared is there. Called once, and again whenever something failed and is set up again. It may do the
     * application's work here: calls fail when something breaks, and what it throws then leads to the next set-up. Or it
     * returns; the next call comes when something breaks. It must not wait longer than until {@link SessionState#ended()}
     * for anything but this client's calls.
     *
     * <p>Nothing is repeated by itself. Work that was outstanding may have been done or not: the application knows whether
     * it can do it twice, or finds out, for example by a Read.
     *
     * @throws Exception what did not work; the declared connections are aborted then, and made anew
     */
    void onReady(SessionState state) throws Exception;

    /**
     * Something broke, or could not be set up. By default it goes to the log ({@link System.Logger}).
     *
     * @param cause what failed. Earlier Writes and Sends that may not have arrived are told as suppressed exceptions, and the
     *     end of the session does not tell them again
     * @param pause time until the next attempt; 0 for at once
     */
    default void onFailure(Throwable cause, Duration pause) {
        SupervisedSession.log(cause, pause);
    }
}
