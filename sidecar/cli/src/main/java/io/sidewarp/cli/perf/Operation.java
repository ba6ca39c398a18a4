// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import java.util.Locale;

/** The operation that is measured. Its number is on the wire. */
public enum Operation {
    WRITE(1),
    READ(2),
    SEND(3);

    private final int number;

    Operation(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    static Operation ofNumber(int number) {
        for (Operation operation : values()) {
            if (operation.number == number) {
                return operation;
            }
        }
        throw new IllegalArgumentException("there is no operation " + number);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
