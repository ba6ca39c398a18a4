// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

/** Parts of the benchmark. Ratios are taken within one, as its measurements alternate. */
public enum Part {
    /** Engine to engine, message sizes from 64 octets to 16 MiB, beside iperf3, bare TCP, grpc-java and copies. */
    THROUGHPUT,
    /** Engine to engine, messages of 64 octets, beside grpc-java. */
    RATE,
    /** Engine to engine, messages of 8 octets one at a time, beside bare TCP and grpc-java. */
    LATENCY
}
