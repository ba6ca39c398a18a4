// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.Recorder;
import java.util.List;
import java.util.stream.Stream;

/**
 * Measures Writes and Reads of 64 bytes to 16 MiB: with and without CRC, over one and several connections, with
 * Markers. For each size the peers come first.
 */
public final class ThroughputPart implements PartRunner {

    private static final int KIB = 1024;
    private static final int MIB = KIB * KIB;

    /** Number of connections in measurements with several. */
    public static final int CONNECTIONS = 8;

    /** Bytes of a copy whose two buffers fit into the caches. */
    public static final int WARM_COPY = 64 * KIB;

    /** Bytes of a copy that is much larger than the caches. */
    public static final int COLD_COPY = 256 * MIB;

    /** Message sizes, and the number of messages in flight. */
    public static final List<Step> STEPS = List.of(
            new Step(64, 128),
            new Step(512, 128),
            new Step(4 * KIB, 64),
            new Step(64 * KIB, 16),
            new Step(MIB, 8),
            new Step(16 * MIB, 2));

    private static final List<Integer> QUICK_SIZES = List.of(64 * KIB, MIB);

    /** A message size and its depth. */
    public record Step(int size, int depth) {

        /** Returns a plan over one connection with CRC. */
        public TransferPlan plan(BenchOperation operation) {
            return TransferPlan.stream(operation, size, depth).withSignal(RatePart.signal(depth));
        }
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        try (EndPair copy = lab.start(EndKind.COPY, List.of());
                EndPair nio = lab.start(EndKind.NIO, List.of(Samples.peerStream(MIB)));
                EndPair grpc = lab.start(
                        EndKind.GRPC,
                        List.of(Samples.peerStream(64), Samples.peerStream(64 * KIB), Samples.peerStream(MIB)));
                EndPair line = lab.start(EndKind.LINE, List.of());
                EndPair engine = lab.start(EndKind.ENGINE, settling())) {
            for (int size : List.of(WARM_COPY, COLD_COPY)) {
                Samples.record(
                        lab, recorder, copy, TransferPlan.stream(BenchOperation.SEND, size, 1), Peers.copy(size));
            }
            for (Step step : STEPS) {
                if (!lab.quick() || QUICK_SIZES.contains(step.size())) {
                    Samples.distance(lab, recorder, line);
                    measure(lab, recorder, step, nio, grpc, engine);
                }
            }
        }
    }

    private static void measure(Lab lab, Recorder recorder, Step step, EndPair nio, EndPair grpc, EndPair engine) {
        if (step.size() == 64 * KIB) {
            List.of(IperfKind.values()).forEach(kind -> Samples.iperf(lab, recorder, kind));
        }
        Samples.record(lab, recorder, nio, Samples.peerStream(step.size()), Peers.nioStream(step.size()));
        Samples.record(lab, recorder, grpc, Samples.peerStream(step.size()), Peers.grpcStream(step.size()));
        for (BenchOperation operation : List.of(BenchOperation.WRITE, BenchOperation.READ)) {
            for (TransferPlan plan : lab.quick() ? List.of(step.plan(operation)) : variants(step.plan(operation))) {
                Samples.record(lab, recorder, engine, plan);
            }
        }
    }

    /**
     * Returns the variants of a plan: one connection with CRC, without CRC, with Markers, and several connections with
     * CRC.
     */
    public static List<TransferPlan> variants(TransferPlan plan) {
        return List.of(plan, plan.withCrc(false), plan.withMarkers(true), plan.withConnections(CONNECTIONS));
    }

    /**
     * Returns the plans for settling. Each size, operation and variant takes paths through the code that the JVM has to
     * compile first.
     */
    private static List<TransferPlan> settling() {
        return STEPS.stream()
                .flatMap(step -> Stream.of(step.plan(BenchOperation.WRITE), step.plan(BenchOperation.READ)))
                .flatMap(plan -> variants(plan).stream())
                .toList();
    }
}
