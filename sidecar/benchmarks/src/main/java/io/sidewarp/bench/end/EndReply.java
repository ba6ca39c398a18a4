// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Answer of an end to a command.
 *
 * @param error what went wrong, else null
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndReply(
        int port,
        @Nullable Outcome outcome,
        @Nullable Usage usage,
        @Nullable String error) {

    static EndReply done() {
        return new EndReply(0, null, null, null);
    }

    static EndReply listening(int port) {
        return new EndReply(port, null, null, null);
    }

    static EndReply used(Usage usage) {
        return new EndReply(0, null, usage, null);
    }

    static EndReply ran(Outcome outcome, Usage usage) {
        return new EndReply(0, outcome, usage, null);
    }

    static EndReply failed(String error) {
        return new EndReply(0, null, null, error);
    }
}
