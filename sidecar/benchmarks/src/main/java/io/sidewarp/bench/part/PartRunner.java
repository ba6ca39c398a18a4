// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.result.Part;

/** Measures a part. */
@FunctionalInterface
public interface PartRunner {

    /** Makes one repetition: everything once, peers and Sidewarp by turns, in processes of its own. */
    void repeat(Lab lab);

    /** Returns the runner of a part. */
    static PartRunner of(Part part) {
        return switch (part) {
            case THROUGHPUT -> EngineParts::throughput;
            case STREAMS -> EngineParts::streams;
            case RATE -> EngineParts::rate;
            case LATENCY -> EngineParts::latency;
            case CONNECTIONS -> ConnectionsPart::repeat;
            case SIDECAR -> SidecarPart::repeat;
            case APPLICATION -> ApplicationPart::repeat;
            case NETWORK -> TransportParts::network;
            case TLS -> TlsPart::repeat;
            case SCTP -> TransportParts::sctp;
            case COMPARISON -> ChangeParts::comparison;
            case PROFILE -> ChangeParts::profile;
        };
    }
}
