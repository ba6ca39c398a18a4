// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.Plans.Step;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Iperf;
import io.sidewarp.bench.process.NativeProgram;
import io.sidewarp.bench.process.Network;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.client.QueuePath;
import java.util.ArrayList;
import java.util.List;

/** Parts over other transports than TCP on loopback. */
final class TransportParts {

    /** Default congestion control of Linux. */
    private static final String USUAL = "cubic";

    private static final List<Step> NETWORK_STEPS = ChangeParts.STEPS;

    private static final List<Step> STEPS = List.of(Plans.SMALL_STREAM, Plans.PAGES, Plans.MIDDLE, Plans.LARGE);
    private static final List<Integer> SIZES = List.of(Plans.SMALL, 4 * Plans.KIB, 64 * Plans.KIB, Plans.MIB);

    private TransportParts() {}

    /**
     * Measures on the two hosts of a network, beside iperf3 and bare TCP: with the machine's congestion control, and
     * with Linux's default if that differs.
     */
    static void network(Lab lab) {
        try (Network network = Network.create("bench")) {
            Lab there = lab.at(lab.active().at(network.active()), lab.passive().at(network.passive()));
            measure(there, "");
            if (Network.machinesCongestionControl().equals(USUAL)) {
                return;
            }
            if (network.useCongestionControl(USUAL)) {
                measure(there.named(USUAL), ", " + USUAL);
            } else {
                lab.progress()
                        .accept("not with " + USUAL
                                + ", which net.ipv4.tcp_allowed_congestion_control of the machine does not name");
            }
        }
    }

    private static void measure(Lab lab, String control) {
        TransferPlan bare = Plans.small(Operation.SEND, Waiting.SPIN);
        TransferPlan echo = Plans.small(Operation.WRITE, Waiting.SPIN);
        List<TransferPlan> messages = ApplicationPart.messages(List.of(Plans.SMALL), Waiting.ADAPTIVE);
        List<TransferPlan> engines = new ArrayList<>(Plans.engines(NETWORK_STEPS));
        engines.add(echo);
        List<TransferPlan> all = new ArrayList<>(Plans.applications(NETWORK_STEPS));
        all.addAll(messages);
        try (EndPair nio = lab.ends(EndKind.NIO, List.of(bare));
                EndPair engine = lab.ends(EndKind.ENGINE, engines);
                SidecarPair applications = lab.applications("tcp", QueuePath.RINGS)) {
            lab.settle(applications, all);
            for (Step step : NETWORK_STEPS) {
                new Turns(Sizes.format(step.size()) + control)
                        .beside(lab.iperf(Iperf.DEFAULT, false), Plans.peer(Iperf.DEFAULT))
                        .beside(lab.iperf(Iperf.LARGE, false), Plans.peer(Iperf.LARGE))
                        .with(engine, Plans.engines(List.of(step)))
                        .with(applications, Plans.applications(List.of(step)))
                        .measure(lab, 1);
            }
            new Turns("8 B" + control)
                    .beside(nio, bare)
                    .with(engine, echo)
                    .with(applications, messages)
                    .measure(lab, 1);
        }
    }

    /**
     * Measures applications over SCTP, beside usrsctp alone with and without its checksum. The program usrsctp-transfer
     * splits itself into both ends. All processes may therefore use all processors.
     */
    static void sctp(Lab lab) {
        NativeProgram usrsctp = NativeProgram.usrsctp(lab.build().root(), lab.directory(), true, lab.progress());
        NativeProgram bare = NativeProgram.usrsctp(lab.build().root(), lab.directory(), false, lab.progress());
        try (SidecarPair applications = lab.at(Place.ANYWHERE, Place.ANYWHERE).applications("sctp", QueuePath.RINGS)) {
            List<TransferPlan> plans = new ArrayList<>(Plans.applications(STEPS));
            plans.addAll(ApplicationPart.messages(SIZES, Waiting.ADAPTIVE));
            lab.settle(applications, plans);
            for (Step step : STEPS) {
                TransferPlan peer = Plans.peer(step.size());
                new Turns(Sizes.format(step.size()))
                        .beside(usrsctp, peer)
                        .beside(bare, peer.withCrc(false))
                        .with(applications, Plans.applications(List.of(step)))
                        .measure(lab, 1);
            }
            for (int size : SIZES) {
                List<TransferPlan> messages = ApplicationPart.messages(List.of(size), Waiting.ADAPTIVE);
                new Turns(Sizes.format(size) + " at a time")
                        .beside(usrsctp, messages.getFirst().withWaiting(Waiting.SLEEP))
                        .with(applications, messages)
                        .measure(lab, 1);
            }
        }
    }
}
