// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import java.util.Arrays;
import java.util.Optional;

/** Purpose of a connection between two ends of this command. Its number is on the wire. */
public enum Service {
    PING(1, "sidewarp ping --listen"),
    PERF(2, "sidewarp perf --listen"),
    /** A connection whose throughput or latency is measured. It belongs to one of {@link #PERF}. */
    PERF_DATA(3, "sidewarp perf --listen"),
    COPY(4, "sidewarp serve"),
    DEMO(5, "sidewarp demo");

    private final int number;
    private final String server;

    Service(int number, String server) {
        this.number = number;
        this.server = server;
    }

    int number() {
        return number;
    }

    /** Returns the command that offers the service. */
    public String server() {
        return server;
    }

    static Optional<Service> ofNumber(int number) {
        return Arrays.stream(values())
                .filter(service -> service.number == number)
                .findAny();
    }
}
