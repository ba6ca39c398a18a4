// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.cli.text.Sizes;

/**
 * Subject of a measurement.
 *
 * @param program program that moves the data, and its variant: {@code engine}, {@code application gRPC}, {@code nio}
 * @param operation {@code write}, {@code read}, {@code send}; what else is done by a subject without messages
 * @param size bytes of a message
 * @param depth messages in flight on a connection
 * @param signal messages per requested completion
 * @param connections number of connections at the same time
 * @param crc whether FPDUs carry a CRC32c
 * @param markers whether FPDUs carry Markers, both ways
 * @param waiting how both ends wait: {@code adaptive}, {@code sleep}, {@code spin}, {@code yield}
 * @param tls whether the connections have TLS
 */
public record Subject(
        String program,
        String operation,
        long size,
        int depth,
        int signal,
        int connections,
        boolean crc,
        boolean markers,
        String waiting,
        boolean tls) {

    /** Returns the subject for a program that carries out a plan. */
    public static Subject of(String program, TransferPlan plan) {
        return new Subject(
                program,
                plan.operation().toString(),
                plan.size(),
                plan.depth(),
                plan.signal(),
                plan.connections() + plan.idle(),
                plan.crc(),
                plan.markers(),
                plan.waiting().toString(),
                plan.hasTls());
    }

    /** Returns the subject for something without messages. */
    public static Subject of(String program, String operation) {
        return new Subject(program, operation, 0, 1, 1, 1, true, false, "", false);
    }

    /** Describes the subject for people, in one line. */
    @Override
    public String toString() {
        return program + " " + operation
                + (size > 0 ? " " + Sizes.format(size) : "")
                + (depth > 1 ? ", depth " + depth + ", signal " + signal : "")
                + (connections > 1 ? ", " + connections + " connections" : "")
                + (tls ? ", TLS" : "")
                + (crc ? "" : ", no CRC")
                + (markers ? ", Markers" : "")
                + (waiting.isEmpty() ? "" : ", " + waiting);
    }
}
