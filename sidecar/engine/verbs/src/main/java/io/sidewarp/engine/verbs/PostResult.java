// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Result of posting a work request. Only {@link #POSTED} promises a completion. */
public enum PostResult {
    POSTED,
    /** The queue is full: all of its entries hold outstanding work requests. */
    QUEUE_FULL,
    /** The queue pair is in a state that does not take this work. */
    INVALID_STATE,
    /**
     * The request has too many scatter/gather elements, a part outside its region, or a length of 2^32 or more. This
     * result also stands for a missing right or an operation that the connection does not have.
     */
    INVALID_REQUEST
}
