// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * A work request ended without success. The code is the one that a simple call fails with, but for work that the sidecar
 * refused: there a simple call tells more closely what was wrong, for instance NOT_FOUND or OUT_OF_RANGE.
 */
public final class WorkFailedException extends SidewarpException {

    private static final long serialVersionUID = 1;

    private final transient WorkCompletion completion;

    public WorkFailedException(WorkCompletion completion) {
        super(
                completion.code(),
                completion.toString(),
                completion.retry(),
                completion.error().orElse(null),
                null);
        this.completion = completion;
    }

    public WorkCompletion completion() {
        return completion;
    }
}
