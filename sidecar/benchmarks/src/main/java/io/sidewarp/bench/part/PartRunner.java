// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.Recorder;

/** Measures a part. */
@FunctionalInterface
public interface PartRunner {

    /** Makes one repetition: everything once, peers and Sidewarp by turns, in processes of its own. */
    void repeat(Lab lab, Recorder recorder);

    /** Returns the runner of a part. */
    static PartRunner of(Part part) {
        return switch (part) {
            case THROUGHPUT -> new ThroughputPart();
            case MOMENTS -> new MomentsPart();
            case STREAMS -> new StreamsPart();
            case RATE -> new RatePart();
            case LATENCY -> new LatencyPart();
            case CONNECTIONS -> new ConnectionsPart();
            case SIDECAR -> new SidecarPart();
            case APPLICATION -> new ApplicationPart();
            case NETWORK -> new NetworkPart();
            case SCTP -> new SctpPart();
            case COMPARISON -> new ComparisonPart();
            case PROFILE -> new ProfilePart();
        };
    }
}
