// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.ring.CompletionEntryFlyweight;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The completion of one work request. */
public final class WorkCompletion {

    private final long id;
    private final long connection;
    private final Opcode opcode;
    private final CompletionStatus status;
    private final long length;

    /** Flags of {@link CompletionEntryFlyweight}, which tell what the next two fields hold. */
    private final int flags;

    private final int invalidatedStag;
    private final long result;
    private final @Nullable RdmaErrorInfo error;
    private final String message;
    private final int code;
    private final Retry retry;

    WorkCompletion(
            long id,
            long connection,
            Opcode opcode,
            CompletionStatus status,
            long length,
            int flags,
            int invalidatedStag,
            long result,
            @Nullable RdmaErrorInfo error,
            String message,
            int code,
            Retry retry) {
        this.id = id;
        this.connection = connection;
        this.opcode = opcode;
        this.status = status;
        this.length = length;
        this.flags = flags;
        this.invalidatedStag = invalidatedStag;
        this.result = result;
        this.error = error;
        this.message = message;
        this.code = code;
        this.retry = retry;
    }

    /** Returns the id that the caller gave the work request. */
    public long id() {
        return id;
    }

    /**
     * Returns {@link Connection#id()} of the connection that carried out the work. For a receive of a
     * {@link SharedReceiveQueue}, returns the connection whose message took the receive, or 0 if no message did.
     */
    public long connection() {
        return connection;
    }

    public Opcode opcode() {
        return opcode;
    }

    public CompletionStatus status() {
        return status;
    }

    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }

    /**
     * Returns the bytes transferred. For a receive, this is the length of the message, which is 0 for Immediate Data.
     */
    public long length() {
        return length;
    }

    /** Returns whether the sender asked for an event. For receives. */
    public boolean solicited() {
        return has(CompletionEntryFlyweight.FLAG_SOLICITED);
    }

    /** Returns the local STag that the sender invalidated. For receives. */
    public OptionalInt invalidatedStag() {
        return Descriptions.optional(has(CompletionEntryFlyweight.FLAG_INVALIDATED), invalidatedStag);
    }

    /**
     * Returns the Immediate Data that took the receive, as the number that the sender gave. Its 8 bytes travel in
     * network byte order. The receive's memory is unchanged. For receives.
     */
    public OptionalLong immediate() {
        return has(CompletionEntryFlyweight.FLAG_IMMEDIATE) ? OptionalLong.of(result) : OptionalLong.empty();
    }

    /**
     * Returns the earlier number in the peer's memory, whatever the byte order of both machines. For atomic operations.
     */
    public OptionalLong original() {
        return has(CompletionEntryFlyweight.FLAG_ORIGINAL) ? OptionalLong.of(result) : OptionalLong.empty();
    }

    /** Returns the protocol error that was the cause, if there is one. */
    public Optional<RdmaErrorInfo> error() {
        return Optional.ofNullable(error);
    }

    /** Returns the status code that a simple call fails with; OK for a success. */
    public Status.Code code() {
        return isSuccess() || code != 0 ? Status.fromCodeValue(code).getCode() : Status.Code.UNKNOWN;
    }

    /** Returns when the same work may succeed. For work without success. */
    public Retry retry() {
        return retry;
    }

    /** Returns the cause and the remedy, for people; empty for a success. */
    public String message() {
        return message;
    }

    /**
     * Returns this completion if it is a success.
     *
     * @throws WorkFailedException if it is not a success
     */
    public WorkCompletion orThrow() {
        if (status != CompletionStatus.SUCCESS) {
            throw new WorkFailedException(this);
        }
        return this;
    }

    @Override
    public String toString() {
        String text = opcode + " " + id + " on connection " + connection + ": " + status + ", " + length + " bytes";
        return message.isEmpty() ? text : text + ": " + message;
    }

    int flags() {
        return flags;
    }

    /** Returns the Immediate Data or the earlier number in the peer's memory, as the flags tell; else 0. */
    long result() {
        return result;
    }

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }
}
