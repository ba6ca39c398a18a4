// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import org.jspecify.annotations.Nullable;

/**
 * One completion, filled by {@link CompletionQueue#poll}. The caller owns the instance and may reuse it for the next
 * poll. Not thread-safe.
 */
public final class Cqe {

    private long id;
    private long queuePair;
    private WrOpcode opcode = WrOpcode.SEND;
    private CqeStatus status = CqeStatus.SUCCESS;
    private long length;
    private boolean solicited;
    private boolean invalidated;
    private int invalidatedStag;
    private boolean immediate;
    private long result;
    private @Nullable StreamError error;

    /** Sets all fields. Called by providers. */
    public void set(long newId, long newQueuePair, WrOpcode newOpcode, CqeStatus newStatus, long newLength) {
        id = newId;
        queuePair = newQueuePair;
        opcode = newOpcode;
        status = newStatus;
        length = newLength;
        solicited = false;
        invalidated = false;
        invalidatedStag = 0;
        immediate = false;
        result = 0;
        error = null;
    }

    /** Copies all fields of another completion. Called by providers. */
    public void set(Cqe other) {
        set(other.id, other.queuePair, other.opcode, other.status, other.length);
        setReceived(other.solicited, other.invalidated, other.invalidatedStag);
        setResult(other.immediate, other.result);
        setError(other.error);
    }

    /** Sets the fields of a received Send-type message. Called by providers. */
    public void setReceived(boolean newSolicited, boolean newInvalidated, int newInvalidatedStag) {
        solicited = newSolicited;
        invalidated = newInvalidated;
        invalidatedStag = newInvalidatedStag;
    }

    /**
     * Sets the 64 bits that came back. Called by providers.
     *
     * @param isImmediate whether the 64 bits are Immediate Data
     */
    public void setResult(boolean isImmediate, long newResult) {
        immediate = isImmediate;
        result = newResult;
    }

    /** Sets the cause of a failure. Called by providers. */
    public void setError(@Nullable StreamError newError) {
        error = newError;
    }

    /** Identifier of the work request. */
    public long id() {
        return id;
    }

    /** Number of the queue pair: {@link QueuePair#number()}. */
    public long queuePair() {
        return queuePair;
    }

    public WrOpcode opcode() {
        return opcode;
    }

    public CqeStatus status() {
        return status;
    }

    /** Bytes transferred. For a receive, the length of the message, which is 0 for Immediate Data. */
    public long length() {
        return length;
    }

    /** True for a received Send or Immediate Data with Solicited Event. */
    public boolean isSolicited() {
        return solicited;
    }

    /** True when the received message invalidated {@link #invalidatedStag()}. */
    public boolean isInvalidated() {
        return invalidated;
    }

    public int invalidatedStag() {
        return invalidatedStag;
    }

    /** True when Immediate Data used up the receive. The memory is unchanged; see {@link #result()}. */
    public boolean isImmediate() {
        return immediate;
    }

    /** Immediate Data that was received, or the value that an atomic operation found in the peer's memory. */
    public long result() {
        return result;
    }

    /** The error that ended the stream, when the status is not SUCCESS and one is known. */
    public @Nullable StreamError error() {
        return error;
    }
}
