// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Outcome of a work request. */
public enum CqeStatus {
    SUCCESS,
    /** The queue pair left its operational state before the work was carried out. */
    FLUSHED,
    /** A local region does not permit the access or is no longer valid, or the part is outside the region. */
    LOCAL_PROTECTION_ERROR,
    /** The message was longer than the receive. */
    LOCAL_LENGTH_ERROR,
    /** The peer terminated the stream with an access error. */
    REMOTE_ACCESS_ERROR,
    /** The peer terminated the stream with another error of an operation. */
    REMOTE_OPERATION_ERROR,
    /** The backing of a local region failed during the work. */
    REGION_FAULT,
    /** A protocol error or a lower layer error ended the stream. */
    FATAL
}
