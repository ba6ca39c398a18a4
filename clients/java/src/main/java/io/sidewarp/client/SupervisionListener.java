// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;

/** The application's part of a {@link SupervisedSession}. Called on one thread, which may block. */
@FunctionalInterface
public interface SupervisionListener {

    /**
     * Reports that all declared objects are set up. Called once, and again after each failure that was repaired.
     *
     * <p>The method may do the application's work: calls fail when something breaks, and an exception of this method
     * leads to the next set-up. Or it returns; the next call comes after something broke. Except for calls of this
     * client, the method must not wait longer than until {@link SessionState#ended()}.
     *
     * <p>No work is repeated automatically. Outstanding work may or may not have been done. The application knows
     * whether it can repeat the work, or finds out, for example with a Read.
     *
     * @throws Exception a failure of the application's work; the declared connections are then aborted and set up again
     */
    void onReady(SessionState state) throws Exception;

    /**
     * Reports that something failed or could not be set up. By default the failure goes to the log
     * ({@link System.Logger}).
     *
     * @param cause the failure. Its suppressed exceptions report earlier Writes and Sends that may not have arrived;
     *     the end of the session does not report them again.
     * @param pause time until the next attempt; 0 for an attempt at once
     */
    default void onFailure(Throwable cause, Duration pause) {
        SupervisedSession.log(cause, pause);
    }
}
