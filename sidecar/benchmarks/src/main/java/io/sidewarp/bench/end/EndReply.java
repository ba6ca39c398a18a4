// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Answer of an end to a command.
 *
 * @param port port of a listener, or 0
 * @param outcome outcome of a run, or null
 * @param usage resources used, or null
 * @param memory bytes of memory in use by the process: heap and everything else
 * @param error description of a failure, or null
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndReply(
        int port,
        @Nullable DutyOutcome outcome,
        @Nullable Usage usage,
        long memory,
        @Nullable String error) {

    /** The answer to a command without a result. */
    static final EndReply DONE = new EndReply(0, null, null, 0, null);
}
