// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import java.util.Locale;

/** Operation that moves the payload. */
public enum BenchOperation {
    /** RDMA Write. */
    WRITE,
    /** RDMA Read: the end that asks is the one that receives. */
    READ,
    /** Send, or what other programs do. */
    SEND;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
