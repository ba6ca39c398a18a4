// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Answer to a posted work request. Only {@link #POSTED} promises a completion. */
public enum PostResult {
    POSTED,
    /** As many work requests are outstanding as the queue has entries. */
    QUEUE_FULL,
    /** The queue pair is not in a state that takes this work. */
    INVALID_STATE,
    /**
     * Too many scatter/gather elements, a part outside its region, a length of 2^32 or more, a missing right, or an
     * operation that the connection does not have.
     */
    INVALID_REQUEST
}
