// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

/** Parts of the benchmark. Ratios are taken within one part, whose measurements alternate. */
public enum Part {

    /** Engine to engine, message sizes from 64 bytes to 16 MiB, beside iperf3, bare TCP and grpc-java. */
    THROUGHPUT,

    /**
     * Streams of engines and applications by turns with iperf3, grpc-java, and bare TCP. This bare TCP copies and
     * computes CRCs as an engine has to.
     */
    STREAMS,

    /** Engine to engine, messages of 64 bytes, beside grpc-java. */
    RATE,

    /** Engine to engine, messages of 8 bytes one at a time, beside bare TCP and grpc-java. */
    LATENCY,

    /** Engine to engine, 1 to 10,000 connections. */
    CONNECTIONS,

    /**
     * Application to application through two sidecars, over rings and over the gRPC queue, beside engines alone and a
     * relay in C. Includes messages beside a stream, and a quota of processor time where control groups can be made.
     */
    APPLICATION,

    /** Engines and applications on two hosts of a network, beside iperf3 and bare TCP. Needs network namespaces. */
    NETWORK,

    /** Start time and memory of a sidecar. */
    SIDECAR,

    /** Application to application through two sidecars over SCTP, beside usrsctp alone. Needs a C compiler. */
    SCTP,

    /**
     * Engine to engine with TLS, beside bare TLS of the JDK and iperf3 through two stunnels: streams, messages of 8
     * bytes, set-up with tickets, idle connections. Needs openssl and stunnel.
     */
    TLS,

    /** Engines and applications of this build and of another one, by turns. */
    COMPARISON,

    /**
     * Profiles of the processors of two engines during a stream, of this build and of another one if given. Needs perf.
     */
    PROFILE;

    /** Returns whether the part also measures another build, if one is given. */
    public boolean compares() {
        return this == COMPARISON || this == PROFILE;
    }
}
