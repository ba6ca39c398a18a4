// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * A command for an end.
 *
 * @param verb action of the end
 * @param plan plan of LISTEN and CONNECT
 * @param port port of CONNECT
 * @param nanos time of RUN in nanoseconds
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndCommand(Verb verb, @Nullable TransferPlan plan, int port, long nanos) {

    /** Actions of an end. */
    public enum Verb {
        /** Passive: gets ready for the plan; the reply has the port. */
        LISTEN,
        /** Active: connects for the plan. */
        CONNECT,
        /** Active: {@link ActiveEnd#run}; the reply has the outcome and the usage meanwhile. */
        RUN,
        /** Begins to count usage. */
        BEGIN,
        /** The reply has the usage since BEGIN. */
        END,
        /** Collects garbage; the reply has the memory in use. */
        MEMORY,
        /** Ends the plan. */
        RELEASE
    }

    public static EndCommand listen(TransferPlan plan) {
        return new EndCommand(Verb.LISTEN, plan, 0, 0);
    }

    public static EndCommand connect(TransferPlan plan, int port) {
        return new EndCommand(Verb.CONNECT, plan, port, 0);
    }

    public static EndCommand run(long nanos) {
        return new EndCommand(Verb.RUN, null, 0, nanos);
    }

    /** Returns a command without arguments. */
    public static EndCommand of(Verb verb) {
        return new EndCommand(verb, null, 0, 0);
    }
}
