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

    static EndReply done() {
        return new EndReply(0, null, null, 0, null);
    }

    static EndReply listening(int port) {
        return new EndReply(port, null, null, 0, null);
    }

    static EndReply used(Usage usage) {
        return new EndReply(0, null, usage, 0, null);
    }

    static EndReply ran(DutyOutcome outcome, Usage usage) {
        return new EndReply(0, outcome, usage, 0, null);
    }

    static EndReply uses(long octets) {
        return new EndReply(0, null, null, octets, null);
    }

    static EndReply failed(String error) {
        return new EndReply(0, null, null, 0, error);
    }
}
