// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.rdmap.StreamError;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.error.ErrorTable;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.Retry;
import org.jspecify.annotations.Nullable;

/**
 * Why work was not posted.
 *
 * @param status for a completion
 * @param code for a call
 * @param message the cause and the remedy, for people
 * @param retry when the same work may succeed
 * @param error of the protocols that ended the connection, or null
 */
record Refusal(
        CompletionStatus status,
        Status.Code code,
        String message,
        Retry retry,
        @Nullable RdmaError error) {

    private Refusal(CompletionStatus status, Status.Code code, String message) {
        this(status, code, message, ErrorTable.retry(code), null);
    }

    static Refusal invalid(String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, Status.Code.INVALID_ARGUMENT, message);
    }

    /**
     * A connection is not found.
     *
     * @param missing why, as {@link ConnectionLookup#missing} tells
     * @param flush whether the work is a flush, which tells of the work before it: so does its advice
     */
    static Refusal of(StatusRuntimeException missing, boolean flush) {
        if (missing.getStatus().getCode() == Status.Code.NOT_FOUND) {
            return invalid(String.valueOf(missing.getStatus().getDescription()));
        }
        return flush ? flushed(missing, ApiError.retry(missing)) : flushed(missing);
    }

    static Refusal missing(String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, Status.Code.NOT_FOUND, message);
    }

    static Refusal precondition(String message) {
        return new Refusal(
                CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, Status.Code.FAILED_PRECONDITION, message);
    }

    /** The connection is not ready for the work yet. */
    static Refusal notYet(String message) {
        return new Refusal(
                CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST,
                Status.Code.FAILED_PRECONDITION,
                message,
                Retry.RETRY_LATER,
                null);
    }

    static Refusal exhausted(String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, Status.Code.RESOURCE_EXHAUSTED, message);
    }

    static Refusal protection(Status.Code code, String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR, code, message);
    }

    /** There is no connection, or no shared receive queue, for the work any more. */
    static Refusal flushed(String message) {
        return flushed(ApiError.closed(null, message));
    }

    /**
     * The connection has ended.
     *
     * @param ended the status for work on it
     */
    static Refusal flushed(StatusRuntimeException ended) {
        return flushed(ended, Retry.RETRY_AFTER_RECONNECTING);
    }

    private static Refusal flushed(StatusRuntimeException ended, Retry retry) {
        return new Refusal(
                CompletionStatus.COMPLETION_STATUS_FLUSHED,
                ended.getStatus().getCode(),
                String.valueOf(ended.getStatus().getDescription()),
                retry,
                ApiError.rdma(ended).orElse(null));
    }

    /**
     * The connection has ended before a flush, which tells of the work before it: so does its advice.
     *
     * @param error what ended it, or null
     */
    static Refusal flushed(String message, @Nullable StreamError error) {
        StatusRuntimeException ended = ApiError.closed(error, message);
        return flushed(ended, ApiError.retry(ended));
    }

    /** Whether the connection is no longer there for the work, rather than that something is wrong with it. */
    boolean isFlushed() {
        return status == CompletionStatus.COMPLETION_STATUS_FLUSHED;
    }

    StatusRuntimeException toException() {
        return ApiError.of(code, message, retry, error);
    }
}
