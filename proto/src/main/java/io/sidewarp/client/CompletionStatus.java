// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** How a work request ended. */
public enum CompletionStatus {
    SUCCESS,
    /** The connection ended before the work was carried out. */
    FLUSHED,
    /** A local region does not permit the access, was deregistered, or the part is outside of it. */
    LOCAL_PROTECTION_ERROR,
    /** The peer reported an access error; the {@link WorkCompletion#error()} says which. */
    REMOTE_ACCESS_ERROR,
    /** The peer reported another error of the operation. */
    REMOTE_OPERATION_ERROR,
    /** The message was longer than the receive. */
    LOCAL_LENGTH_ERROR,
    /** The region's backing failed, for instance because its file was truncated. */
    REGION_FAULT,
    /** The work request was refused: the message says why. */
    INVALID_REQUEST,
    /** An error of the lower layer or of the protocol ended the connection during this work. */
    FATAL,
    /** A status that a newer sidecar knows and this client does not. */
    UNKNOWN;

    private static final CompletionStatus[] BY_NUMBER = {
        UNKNOWN,
        SUCCESS,
        FLUSHED,
        LOCAL_PROTECTION_ERROR,
        REMOTE_ACCESS_ERROR,
        REMOTE_OPERATION_ERROR,
        LOCAL_LENGTH_ERROR,
        REGION_FAULT,
        INVALID_REQUEST,
        FATAL
    };

    static CompletionStatus ofNumber(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
    }

    /** Returns the number in the contract; 0 for {@link #UNKNOWN}. */
    int number() {
        return this == UNKNOWN ? 0 : ordinal() + 1;
    }
}
