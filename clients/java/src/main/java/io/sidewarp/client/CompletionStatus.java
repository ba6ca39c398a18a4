// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Result of a work request. */
public enum CompletionStatus {
    SUCCESS,
    /** Connection ended before the work was carried out. */
    FLUSHED,
    /** Local region does not permit the access, was deregistered, or does not contain the whole part. */
    LOCAL_PROTECTION_ERROR,
    /** Peer reported an access error; {@link WorkCompletion#error()} names it. */
    REMOTE_ACCESS_ERROR,
    /** Peer reported another error of the operation. */
    REMOTE_OPERATION_ERROR,
    /** Message was longer than the receive. */
    LOCAL_LENGTH_ERROR,
    /** Backing of the region failed, for example because its file was truncated. */
    REGION_FAULT,
    /** Work request was refused; the message names the reason. */
    INVALID_REQUEST,
    /** Error of the lower layer or of the protocol that ended the connection during this work. */
    FATAL,
    /** Status that a newer sidecar knows and this client does not. */
    UNKNOWN;

    private static final CompletionStatus[] CONSTANTS = values();

    static CompletionStatus ofNumber(int number) {
        return Protos.ofNumber(CONSTANTS, number, UNKNOWN);
    }

    /** Returns the number in the contract; 0 for {@link #UNKNOWN}. */
    int number() {
        return this == UNKNOWN ? 0 : Protos.number(this);
    }
}
