// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.error.ErrorTable;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.Retry;
import io.sidewarp.v1.WorkCompletion;
import org.jspecify.annotations.Nullable;

/** Converts completions to the form of the API. */
public final class CompletionProtos {

    private static final String UNTAKEN =
            "the shared receive queue was destroyed before a message took the receive; post it to another one";

    private CompletionProtos() {}

    static Opcode opcode(WrOpcode opcode) {
        return switch (opcode) {
            case RDMA_WRITE -> Opcode.OPCODE_WRITE;
            case RDMA_READ -> Opcode.OPCODE_READ;
            case SEND -> Opcode.OPCODE_SEND;
            case RECEIVE -> Opcode.OPCODE_RECEIVE;
            case IMMEDIATE -> Opcode.OPCODE_IMMEDIATE;
            case RDMA_WRITE_WITH_IMMEDIATE -> Opcode.OPCODE_WRITE_WITH_IMMEDIATE;
            case FETCH_ADD -> Opcode.OPCODE_FETCH_ADD;
            case COMPARE_SWAP -> Opcode.OPCODE_COMPARE_SWAP;
            case LOCAL_INVALIDATE -> Opcode.OPCODE_LOCAL_INVALIDATE;
            case ENABLE -> Opcode.OPCODE_ENABLE;
            case FLUSH -> Opcode.OPCODE_FLUSH;
        };
    }

    static CompletionStatus status(CqeStatus status) {
        return switch (status) {
            case SUCCESS -> CompletionStatus.COMPLETION_STATUS_SUCCESS;
            case FLUSHED -> CompletionStatus.COMPLETION_STATUS_FLUSHED;
            case LOCAL_PROTECTION_ERROR -> CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR;
            case LOCAL_LENGTH_ERROR -> CompletionStatus.COMPLETION_STATUS_LOCAL_LENGTH_ERROR;
            case REMOTE_ACCESS_ERROR -> CompletionStatus.COMPLETION_STATUS_REMOTE_ACCESS_ERROR;
            case REMOTE_OPERATION_ERROR -> CompletionStatus.COMPLETION_STATUS_REMOTE_OPERATION_ERROR;
            case REGION_FAULT -> CompletionStatus.COMPLETION_STATUS_REGION_FAULT;
            case FATAL -> CompletionStatus.COMPLETION_STATUS_FATAL;
        };
    }

    /**
     * Converts a completion of the engine.
     *
     * @param connection 0 for a receive that no connection's message took
     */
    static WorkCompletion toProto(long id, long connection, Cqe completion) {
        WorkCompletion.Builder builder = WorkCompletion.newBuilder()
                .setId(id)
                .setConnection(connection)
                .setOpcode(opcode(completion.opcode()))
                .setStatus(status(completion.status()))
                .setLength(completion.length())
                .setSolicited(completion.isSolicited());
        if (completion.isInvalidated()) {
            builder.setInvalidatedStag(completion.invalidatedStag());
        }
        if (completion.isImmediate()) {
            builder.setImmediate(completion.result());
        } else if (completion.opcode().isAtomic() && completion.status() == CqeStatus.SUCCESS) {
            builder.setOriginal(completion.result());
        }
        StreamError error = completion.error();
        if (error != null) {
            builder.setError(ApiError.rdma(error));
        }
        if (completion.status() != CqeStatus.SUCCESS) {
            boolean untaken = connection == 0 && completion.status() == CqeStatus.FLUSHED;
            ErrorTable.Outcome outcome = outcome(completion.status(), error);
            // Flushed work may succeed on a new connection. A flush reports on earlier work instead.
            boolean untried = completion.status() == CqeStatus.FLUSHED && completion.opcode() != WrOpcode.FLUSH;
            builder.setMessage(untaken ? UNTAKEN : message(completion.status(), error))
                    .setCode(outcome.code().value())
                    .setRetry(untried ? Retry.RETRY_AFTER_RECONNECTING : outcome.retry());
        }
        return builder.build();
    }

    /** Returns a completion for work that was never posted. */
    static WorkCompletion refused(WorkItem item, Refusal refusal) {
        WorkCompletion.Builder builder = WorkCompletion.newBuilder()
                .setId(item.id)
                .setConnection(item.connection)
                .setStatus(refusal.status())
                .setMessage(refusal.message())
                .setCode(refusal.code().value())
                .setRetry(refusal.retry());
        if (refusal.error() != null) {
            builder.setError(refusal.error());
        }
        WrOpcode opcode = item.opcode;
        if (opcode != null) {
            builder.setOpcode(opcode(opcode));
        }
        return builder.build();
    }

    /** Returns the status of a call whose only operation failed. */
    static StatusRuntimeException failure(WorkCompletion completion) {
        return ApiError.of(
                Status.fromCodeValue(completion.getCode()).getCode(),
                completion.getMessage(),
                completion.getRetry(),
                completion.hasError() && !isConnectionLost(completion.getError()) ? completion.getError() : null);
    }

    /** Returns whether the connection was lost. A reset without a Terminate is no protocol error. */
    private static boolean isConnectionLost(RdmaError error) {
        return !error.getRemote() && error.getLayer() == 2 && error.getCode() == LlpError.CONNECTION_LOST.code();
    }

    private static ErrorTable.Outcome outcome(CqeStatus status, @Nullable StreamError error) {
        return switch (status) {
            case SUCCESS -> new ErrorTable.Outcome(Status.Code.OK, Retry.RETRY_UNSPECIFIED);
            case LOCAL_PROTECTION_ERROR -> new ErrorTable.Outcome(Status.Code.PERMISSION_DENIED, Retry.RETRY_NEVER);
            case LOCAL_LENGTH_ERROR -> new ErrorTable.Outcome(Status.Code.OUT_OF_RANGE, Retry.RETRY_NEVER);
            case REGION_FAULT -> new ErrorTable.Outcome(Status.Code.FAILED_PRECONDITION, Retry.RETRY_NEVER);
            case REMOTE_ACCESS_ERROR ->
                of(error, new ErrorTable.Outcome(Status.Code.PERMISSION_DENIED, Retry.RETRY_NEVER));
            case REMOTE_OPERATION_ERROR ->
                of(error, new ErrorTable.Outcome(Status.Code.ABORTED, Retry.RETRY_AFTER_RECONNECTING));
            case FLUSHED, FATAL ->
                of(error, new ErrorTable.Outcome(Status.Code.UNAVAILABLE, Retry.RETRY_AFTER_RECONNECTING));
        };
    }

    private static ErrorTable.Outcome of(@Nullable StreamError error, ErrorTable.Outcome unknown) {
        return error == null ? unknown : ErrorTable.of(error.layer(), error.type(), error.code());
    }

    /**
     * Returns the remedy for work on a connection that has ended.
     *
     * @param error error that ended the connection, or null
     */
    public static String remedy(@Nullable StreamError error) {
        if (error == null || error.isConnectionLost()) {
            return "connect again";
        }
        return switch (ErrorTable.of(error.layer(), error.type(), error.code()).retry()) {
            case RETRY_NEVER -> "correct the work that the error is about, then connect again";
            case RETRY_UNSPECIFIED, RETRY_AFTER_RECONNECTING, RETRY_LATER, UNRECOGNIZED ->
                isOutOfReceives(error) ? "have the peer post more receives, then connect again" : "connect again";
        };
    }

    /** Returns whether the peer had no receive left. DDP: Invalid MSN - no buffer available (RFC 5041 section 7.2). */
    private static boolean isOutOfReceives(StreamError error) {
        return error.layer() == 1 && error.type() == 2 && error.code() == 2 && error.remote();
    }

    private static String message(CqeStatus status, @Nullable StreamError error) {
        String cause = error == null ? "" : ": " + error;
        return switch (status) {
            case SUCCESS -> "";
            case FLUSHED -> "the connection ended before the work was carried out" + cause + "; " + remedy(error);
            case LOCAL_PROTECTION_ERROR ->
                "a local region no longer permits the access" + cause + "; register it for as long as work uses it";
            case LOCAL_LENGTH_ERROR -> "the message was longer than the receive" + cause + "; post larger receives";
            case REMOTE_ACCESS_ERROR ->
                "the peer refused the access to its region" + cause
                        + "; check STag, tagged offset, length and the rights that the peer registered";
            case REMOTE_OPERATION_ERROR ->
                "the peer could not carry out the operation" + cause
                        + (error != null && isOutOfReceives(error)
                                ? "; have the peer post more receives"
                                : "; for a Read, a flush or an atomic operation look at the peer's ird, which has to"
                                        + " be at least 1, and align the address of an atomic operation to 8 bytes");
            case REGION_FAULT ->
                "the backing of a local region failed" + cause
                        + "; keep the length of its shared file while it is registered";
            case FATAL -> "an error ended the connection during this work" + cause + "; connect again";
        };
    }
}
