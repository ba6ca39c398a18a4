// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.RdmaError;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The end of one work request. */
public final class WorkCompletion {

    private final long id;
    private final long connection;
    private final Opcode opcode;
    private final CompletionStatus status;
    private final long length;
    private final boolean solicited;
    private final boolean invalidated;
    private final int invalidatedStag;
    private final Result resultKind;
    private final long result;
    private final @Nullable RdmaError error;
    private final String message;
    private final int code;
    private final Retry retry;

    /** What 64 bits came with a completion. */
    enum Result {
        NONE,
        IMMEDIATE,
        ORIGINAL
    }

    WorkCompletion(
            long id,
            long connection,
            Opcode opcode,
            CompletionStatus status,
            long length,
            boolean solicited,
            boolean invalidated,
            int invalidatedStag,
            Result resultKind,
            long result,
            @Nullable RdmaError error,
            String message,
            int code,
            Retry retry) {
        this.id = id;
        this.connection = connection;
        this.opcode = opcode;
        this.status = status;
        this.length = length;
        this.solicited = solicited;
        this.invalidated = invalidated;
        this.invalidatedStag = invalidatedStag;
        this.resultKind = resultKind;
        this.result = result;
        this.error = error;
        this.message = message;
        this.code = code;
        this.retry = retry;
    }

    /** The id that the caller gave the work request. */
    public long id() {
        return id;
    }

    /**
     * {@link Connection#id()} of the connection that carried out the work. Receives of a {@link SharedReceiveQueue}: the
     * one whose message took it, 0 when none did.
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

    /** Octets transferred; for a receive, the length of the message, which is 0 for Immediate Data. */
    public long length() {
        return length;
    }

    /** Receives: the sender asked for an event. */
    public boolean solicited() {
        return solicited;
    }

    /** Receives: the local STag that the sender invalidated. */
    public OptionalInt invalidatedStag() {
        return invalidated ? OptionalInt.of(invalidatedStag) : OptionalInt.empty();
    }

    /**
     * Receives: the Immediate Data that took it, as the number that the sender gave; its 8 bytes travel in network byte
     * order. The receive's memory is unchanged then.
     */
    public OptionalLong immediate() {
        return resultKind == Result.IMMEDIATE ? OptionalLong.of(result) : OptionalLong.empty();
    }

    /** Atomic operations: the number that they found in the peer's memory, whatever the byte order of both machines. */
    public OptionalLong original() {
        return resultKind == Result.ORIGINAL ? OptionalLong.of(result) : OptionalLong.empty();
    }

    /** The protocol error that was the cause, where there is one. */
    public Optional<RdmaError> error() {
        return Optional.ofNullable(error);
    }

    /** Without success: the status code that a simple call fails with. Else OK. */
    public Status.Code code() {
        return isSuccess() || code != 0 ? Status.fromCodeValue(code).getCode() : Status.Code.UNKNOWN;
    }

    /** Without success: when the same work may succeed. */
    public Retry retry() {
        return retry;
    }

    /** Without success: the cause and the remedy, for people. Else empty. */
    public String message() {
        return message;
    }

    /**
     * This completion when it is a success.
     *
     * @throws WorkFailedException else
     */
    public WorkCompletion orThrow() {
        if (status != CompletionStatus.SUCCESS) {
            throw new WorkFailedException(this);
        }
        return this;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(96)
                .append(opcode)
                .append(" ")
                .append(id)
                .append(" on connection ")
                .append(connection)
                .append(": ")
                .append(status)
                .append(", ")
                .append(length)
                .append(" octets");
        if (!message.isEmpty()) {
            text.append(": ").append(message);
        }
        return text.toString();
    }
}
