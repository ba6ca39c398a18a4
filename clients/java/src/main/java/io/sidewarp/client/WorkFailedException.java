// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Failure of a work request. The code is the one that a simple call fails with. For work that the sidecar refused, a
 * simple call has a more specific code, for example NOT_FOUND or OUT_OF_RANGE.
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
