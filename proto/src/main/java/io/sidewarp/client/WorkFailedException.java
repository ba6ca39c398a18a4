// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.RdmaError;

/**
 * A work request ended without success. The code is the one that a simple call fails with, but for work that the sidecar
 * refused: there a simple call tells more closely what was wrong, for instance NOT_FOUND or OUT_OF_RANGE.
 */
public final class WorkFailedException extends SidewarpException {

    private static final long serialVersionUID = 1;

    private final transient WorkCompletion completion;

    public WorkFailedException(WorkCompletion completion) {
        super(codeOf(completion), completion.toString(), completion.error().orElse(null), null);
        this.completion = completion;
    }

    public WorkCompletion completion() {
        return completion;
    }

    private static Status.Code codeOf(WorkCompletion completion) {
        return switch (completion.status()) {
            case SUCCESS -> Status.Code.OK;
            case FLUSHED, FATAL -> Status.Code.UNAVAILABLE;
            case LOCAL_PROTECTION_ERROR -> Status.Code.PERMISSION_DENIED;
            case REMOTE_ACCESS_ERROR ->
                completion.error().filter(WorkFailedException::isBounds).isPresent()
                        ? Status.Code.OUT_OF_RANGE
                        : Status.Code.PERMISSION_DENIED;
            case REMOTE_OPERATION_ERROR -> Status.Code.ABORTED;
            case LOCAL_LENGTH_ERROR -> Status.Code.OUT_OF_RANGE;
            case INVALID_REQUEST -> Status.Code.INVALID_ARGUMENT;
            case REGION_FAULT -> Status.Code.FAILED_PRECONDITION;
            case UNKNOWN -> Status.Code.UNKNOWN;
        };
    }

    /** RDMAP (layer 0) and DDP (layer 1) both have type 1, code 1 for it. */
    private static boolean isBounds(RdmaError error) {
        return error.getLayer() <= 1 && error.getType() == 1 && error.getCode() == 1;
    }
}
