// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.process.Network;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Recorder;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures engines, and applications through two sidecars, on the two hosts of a network, beside iperf3 and bare TCP.
 * Measures with the machine's congestion control, and with Linux's default if that differs.
 */
public final class NetworkPart implements PartRunner {

    /** Default congestion control of Linux. */
    public static final String USUAL = "cubic";

    /** Sizes and depths of the streams. */
    public static final List<ThroughputPart.Step> STEPS = ComparisonPart.STEPS;

    /** Operations of the streams. */
    public static final List<BenchOperation> OPERATIONS = List.of(BenchOperation.WRITE, BenchOperation.READ);

    /** Plan of the round trips between engines, in their memory. */
    public static final TransferPlan ECHO = TransferPlan.pingPong(BenchOperation.WRITE, LatencyPart.SIZE, Waiting.SPIN);

    private static final TransferPlan BARE_ECHO =
            TransferPlan.pingPong(BenchOperation.SEND, LatencyPart.SIZE, Waiting.SPIN);

    /** Returns the plans of the engine. */
    public static List<TransferPlan> plans() {
        List<TransferPlan> plans = new ArrayList<>();
        OPERATIONS.forEach(operation -> STEPS.forEach(step -> plans.add(step.plan(operation))));
        plans.add(ECHO);
        return plans;
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        try (Network network = Network.create("bench")) {
            Lab there = lab.at(lab.active().at(network.active()), lab.passive().at(network.passive()));
            measure(there, recorder, network);
        }
    }

    private static void measure(Lab lab, Recorder recorder, Network network) {
        try (EndPair nio = lab.start(EndKind.NIO, List.of(BARE_ECHO));
                EndPair engine = lab.start(EndKind.ENGINE, plans());
                SidecarPair sidecars = lab.startSidecars("tcp")) {
            SidecarTests.settle(lab, sidecars, STEPS, List.of(LatencyPart.SIZE));
            measure(lab, recorder, nio, engine, sidecars);
            if (Network.machinesCongestionControl().equals(USUAL)) {
                return;
            }
            if (!network.useCongestionControl(USUAL)) {
                lab.progress()
                        .accept("not with " + USUAL
                                + ", which net.ipv4.tcp_allowed_congestion_control of the machine does not name");
                return;
            }
            lab.progress().accept("with " + USUAL);
            sidecars.listenAgain();
            measure(lab, recorder.with(USUAL), nio, engine, sidecars);
        }
    }

    private static void measure(Lab lab, Recorder recorder, EndPair nio, EndPair engine, SidecarPair sidecars) {
        Samples.iperf(lab, recorder, IperfKind.DEFAULT);
        for (BenchOperation operation : OPERATIONS) {
            for (ThroughputPart.Step step : STEPS) {
                Samples.iperf(lab, recorder, IperfKind.LARGE);
                Samples.record(lab, recorder, engine, step.plan(operation));
            }
        }
        for (ThroughputPart.Step step : STEPS) {
            SidecarTests.stream(lab, recorder, sidecars, step, () -> Samples.iperf(lab, recorder, IperfKind.LARGE));
        }
        Samples.record(lab, recorder, nio, BARE_ECHO, Peers.nioEcho(LatencyPart.SIZE, Waiting.SPIN));
        Samples.record(lab, recorder, engine, ECHO);
        SidecarTests.pingPong(lab, recorder, sidecars, List.of(LatencyPart.SIZE));
    }
}
