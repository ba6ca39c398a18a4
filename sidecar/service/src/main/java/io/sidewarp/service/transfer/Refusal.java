// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.error.ErrorTable;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.Retry;
import org.jspecify.annotations.Nullable;

/**
 * Reason why work was not posted.
 *
 * @param status status for a completion
 * @param code status code for a call
 * @param message cause and remedy, for people
 * @param retry advice when the same work may succeed
 * @param error protocol error that ended the connection, or null
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
        return invalid(Status.Code.INVALID_ARGUMENT, message);
    }

    static Refusal invalid(Status.Code code, String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, code, message);
    }

    /**
     * Returns the refusal for a missing connection.
     *
     * @param missing status from {@link ConnectionLookup#missing}
     * @param flush true if the work is a flush; its advice is about the work before it
     */
    static Refusal of(StatusRuntimeException missing, boolean flush) {
        if (missing.getStatus().getCode() == Status.Code.NOT_FOUND) {
            return invalid(
                    Status.Code.NOT_FOUND, String.valueOf(missing.getStatus().getDescription()));
        }
        return flush ? flushed(missing, ApiError.retry(missing)) : flushed(missing);
    }

    /** Returns the refusal for work on a connection that is not ready yet. */
    static Refusal notYet(String message) {
        return new Refusal(
                CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST,
                Status.Code.FAILED_PRECONDITION,
                message,
                Retry.RETRY_LATER,
                null);
    }

    static Refusal protection(Status.Code code, String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR, code, message);
    }

    /** Returns the refusal for work whose connection or shared receive queue no longer exists. */
    static Refusal flushed(String message) {
        return flushed(ApiError.closed(null, message));
    }

    /**
     * Returns the refusal for work on a connection that has ended.
     *
     * @param ended status for work on that connection
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
     * Returns the refusal for a flush on a connection that has ended. Its advice is about the work before the flush.
     *
     * @param error error that ended the connection, or null
     */
    static Refusal flushed(String message, @Nullable StreamError error) {
        StatusRuntimeException ended = ApiError.closed(error, message);
        return flushed(ended, ApiError.retry(ended));
    }

    /** Returns whether the connection is gone for this work. False means that the work itself is wrong. */
    boolean isFlushed() {
        return status == CompletionStatus.COMPLETION_STATUS_FLUSHED;
    }

    StatusRuntimeException toException() {
        return ApiError.of(code, message, retry, error);
    }
}
