// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

/** Parts of the benchmark. Ratios are taken within one, as its measurements alternate. */
public enum Part {
    /** Engine to engine, message sizes from 64 octets to 16 MiB, beside iperf3, bare TCP, grpc-java and copies. */
    THROUGHPUT,
    /** Streams moment by moment, by the distance of the processors of both ends, beside iperf3 and bare TCP. */
    MOMENTS,
    /**
     * Streams of engines and applications by turns with iperf3, grpc-java, and bare TCP that copies and computes CRCs as an
     * engine has to.
     */
    STREAMS,
    /** Engine to engine, messages of 64 octets, beside grpc-java. */
    RATE,
    /** Engine to engine, messages of 8 octets one at a time, beside bare TCP and grpc-java. */
    LATENCY,
    /** Engine to engine, 1 to 10,000 connections. */
    CONNECTIONS,
    /**
     * Application to application through two sidecars, over rings and over the gRPC queue, beside engines alone; messages beside
     * a stream; under a quota of processor time, where control groups can be made.
     */
    APPLICATION,
    /** Engines and applications on two hosts of a network, beside iperf3 and bare TCP. Takes network namespaces. */
    NETWORK,
    /** What a sidecar takes to start, and of memory. */
    SIDECAR,
    /** Application to application through two sidecars over SCTP, beside usrsctp alone. Takes a C compiler. */
    SCTP,
    /** Engines and applications of this build and of another one, by turns. */
    COMPARISON,
    /** What the processors of two engines do meanwhile, of this build and of another one if that is given. Takes perf. */
    PROFILE;

    /** Whether it measures another build too, if one is given. */
    public boolean compares() {
        return this == COMPARISON || this == PROFILE;
    }

    /** Whether its measurements take the time that the user gives; others have times of their own. */
    public boolean isTimed() {
        return this != MOMENTS && this != STREAMS && this != SIDECAR && this != PROFILE;
    }
}
