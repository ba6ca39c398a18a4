// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;

/** A work request ended without success. */
public final class WorkFailedException extends SidewarpException {

    private static final long serialVersionUID = 1;

    private final transient WorkCompletion completion;

    public WorkFailedException(WorkCompletion completion) {
        super(
                codeOf(completion.status()),
                completion.toString(),
                completion.error().orElse(null),
                null);
        this.completion = completion;
    }

    public WorkCompletion completion() {
        return completion;
    }

    private static Status.Code codeOf(CompletionStatus status) {
        return switch (status) {
            case SUCCESS -> Status.Code.OK;
            case FLUSHED -> Status.Code.ABORTED;
            case LOCAL_PROTECTION_ERROR, REMOTE_ACCESS_ERROR -> Status.Code.PERMISSION_DENIED;
            case LOCAL_LENGTH_ERROR -> Status.Code.OUT_OF_RANGE;
            case INVALID_REQUEST -> Status.Code.INVALID_ARGUMENT;
            case REGION_FAULT -> Status.Code.DATA_LOSS;
            case REMOTE_OPERATION_ERROR, FATAL, UNKNOWN -> Status.Code.UNKNOWN;
        };
    }
}
