// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.rdmap.CompletionStatus;
import io.sidewarp.engine.rdmap.StreamError;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.WorkCompletion;
import org.jspecify.annotations.Nullable;

/** Completions in the API's words. */
public final class Completions {

    /** RDMAP errors of a remote access that mean "outside of the region": RFC 5040 section 4.8, layer 0 type 1. */
    private static final int RDMAP_BOUNDS = 0x01;

    private static final String UNTAKEN =
            "the shared receive queue was destroyed before a message took the receive; post it to another one";

    private Completions() {}

    static io.sidewarp.v1.Opcode opcode(Opcode opcode) {
        return switch (opcode) {
            case RDMA_WRITE -> io.sidewarp.v1.Opcode.OPCODE_WRITE;
            case RDMA_READ -> io.sidewarp.v1.Opcode.OPCODE_READ;
            case SEND -> io.sidewarp.v1.Opcode.OPCODE_SEND;
            case RECEIVE -> io.sidewarp.v1.Opcode.OPCODE_RECEIVE;
            case IMMEDIATE -> io.sidewarp.v1.Opcode.OPCODE_IMMEDIATE;
            case RDMA_WRITE_WITH_IMMEDIATE -> io.sidewarp.v1.Opcode.OPCODE_WRITE_WITH_IMMEDIATE;
            case FETCH_ADD -> io.sidewarp.v1.Opcode.OPCODE_FETCH_ADD;
            case COMPARE_SWAP -> io.sidewarp.v1.Opcode.OPCODE_COMPARE_SWAP;
            case LOCAL_INVALIDATE -> io.sidewarp.v1.Opcode.OPCODE_LOCAL_INVALIDATE;
            case ENABLE -> io.sidewarp.v1.Opcode.OPCODE_ENABLE;
        };
    }

    static io.sidewarp.v1.CompletionStatus status(CompletionStatus status) {
        return switch (status) {
            case SUCCESS -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_SUCCESS;
            case FLUSHED -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_FLUSHED;
            case LOCAL_PROTECTION_ERROR -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR;
            case LOCAL_LENGTH_ERROR -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_LOCAL_LENGTH_ERROR;
            case REMOTE_ACCESS_ERROR -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REMOTE_ACCESS_ERROR;
            case REMOTE_OPERATION_ERROR -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REMOTE_OPERATION_ERROR;
            case REGION_FAULT -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REGION_FAULT;
            case FATAL -> io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_FATAL;
        };
    }

    /**
     * A completion of the engine.
     *
     * @param connection 0 for a receive that the messages of no connection took
     */
    static WorkCompletion toProto(long id, long connection, io.sidewarp.engine.verbs.WorkCompletion completion) {
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
        } else if (completion.opcode().isAtomic() && completion.status() == CompletionStatus.SUCCESS) {
            builder.setOriginal(completion.result());
        }
        StreamError error = completion.error();
        if (error != null) {
            builder.setError(ApiError.rdma(error));
        }
        if (completion.status() != CompletionStatus.SUCCESS) {
            boolean untaken = connection == 0 && completion.status() == CompletionStatus.FLUSHED;
            builder.setMessage(untaken ? UNTAKEN : message(completion.status(), error));
        }
        return builder.build();
    }

    /** A completion for work that was never posted. */
    static WorkCompletion refused(long id, long connection, @Nullable Opcode opcode, Refusal refusal) {
        WorkCompletion.Builder builder = WorkCompletion.newBuilder()
                .setId(id)
                .setConnection(connection)
                .setStatus(refusal.status())
                .setMessage(refusal.message());
        if (opcode != null) {
            builder.setOpcode(opcode(opcode));
        }
        return builder.build();
    }

    /** The status of a call whose one operation failed. */
    static StatusRuntimeException failure(WorkCompletion completion) {
        return ApiError.of(
                code(completion), completion.getMessage(), completion.hasError() ? completion.getError() : null);
    }

    private static Status.Code code(WorkCompletion completion) {
        return switch (completion.getStatus()) {
            case COMPLETION_STATUS_FLUSHED, COMPLETION_STATUS_FATAL -> Status.Code.UNAVAILABLE;
            case COMPLETION_STATUS_LOCAL_PROTECTION_ERROR -> Status.Code.PERMISSION_DENIED;
            case COMPLETION_STATUS_LOCAL_LENGTH_ERROR -> Status.Code.OUT_OF_RANGE;
            case COMPLETION_STATUS_REMOTE_ACCESS_ERROR ->
                isBounds(completion) ? Status.Code.OUT_OF_RANGE : Status.Code.PERMISSION_DENIED;
            case COMPLETION_STATUS_REMOTE_OPERATION_ERROR -> Status.Code.ABORTED;
            case COMPLETION_STATUS_REGION_FAULT -> Status.Code.FAILED_PRECONDITION;
            case COMPLETION_STATUS_INVALID_REQUEST -> Status.Code.INVALID_ARGUMENT;
            case COMPLETION_STATUS_SUCCESS, COMPLETION_STATUS_UNSPECIFIED, UNRECOGNIZED -> Status.Code.INTERNAL;
        };
    }

    /** RDMAP remote protection error 1 and DDP tagged buffer error 1 are both bounds violations. */
    private static boolean isBounds(WorkCompletion completion) {
        return completion.getError().getLayer() <= 1
                && completion.getError().getType() == 1
                && completion.getError().getCode() == RDMAP_BOUNDS;
    }

    private static String message(CompletionStatus status, @Nullable StreamError error) {
        String cause = error == null ? "" : ": " + error;
        return switch (status) {
            case SUCCESS -> "";
            case FLUSHED -> "the connection ended before the work was carried out" + cause + "; connect again";
            case LOCAL_PROTECTION_ERROR ->
                "a local region no longer permits the access" + cause + "; register it for as long as work uses it";
            case LOCAL_LENGTH_ERROR -> "the message was longer than the receive" + cause + "; post larger receives";
            case REMOTE_ACCESS_ERROR ->
                "the peer refused the access to its region" + cause
                        + "; check STag, tagged offset, length and the rights that the peer registered";
            case REMOTE_OPERATION_ERROR -> "the peer could not carry out the operation" + cause;
            case REGION_FAULT ->
                "the backing of a local region failed" + cause
                        + "; keep the length of its shared file while it is registered";
            case FATAL -> "an error ended the connection during this work" + cause + "; connect again";
        };
    }
}
