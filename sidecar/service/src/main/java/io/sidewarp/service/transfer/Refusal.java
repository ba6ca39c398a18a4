// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.CompletionStatus;

/**
 * Why work was not posted.
 *
 * @param status for a completion
 * @param code for a call
 * @param message the cause and the remedy, for people
 */
record Refusal(CompletionStatus status, Status.Code code, String message) {

    static Refusal invalid(String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, Status.Code.INVALID_ARGUMENT, message);
    }

    static Refusal missing(String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, Status.Code.NOT_FOUND, message);
    }

    static Refusal exhausted(String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST, Status.Code.RESOURCE_EXHAUSTED, message);
    }

    static Refusal protection(Status.Code code, String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR, code, message);
    }

    static Refusal flushed(String message) {
        return new Refusal(CompletionStatus.COMPLETION_STATUS_FLUSHED, Status.Code.FAILED_PRECONDITION, message);
    }

    /** Whether the connection is no longer there for the work, rather than that something is wrong with it. */
    boolean isFlushed() {
        return status == CompletionStatus.COMPLETION_STATUS_FLUSHED;
    }

    StatusRuntimeException toException() {
        return ApiError.of(code, message);
    }
}
