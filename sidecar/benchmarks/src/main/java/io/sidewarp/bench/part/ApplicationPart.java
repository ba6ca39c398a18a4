// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Relay;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.client.QueuePath;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Measures two applications through two sidecars: over rings in shared memory, over the gRPC queue, and beside engines
 * alone with the same operations. All variants take turns. Payload is in shared regions, with CRC on. Then measures an
 * idle queue, and a quota.
 */
public final class ApplicationPart implements PartRunner {

    /** Name of the variant whose work goes through the gRPC queue; the variant with rings has no name. */
    public static final String GRPC = "gRPC";

    public static final List<BenchOperation> OPERATIONS = List.of(BenchOperation.WRITE, BenchOperation.READ);

    /** Message sizes of throughput, and the number of messages in flight. */
    public static final List<ThroughputPart.Step> STEPS = SidecarTests.STEPS;

    /** The throughput of small messages. */
    public static final ThroughputPart.Step SMALL = STEPS.getFirst();

    /** Message sizes of latency. */
    public static final List<Integer> SIZES = List.of(LatencyPart.SIZE, 64 << 10);

    private static final String RELAY = "C relay";

    private static final int TURNS = 2;
    private static final int QUICK_TURNS = 1;

    /** Returns a plan for one message at a time between engines that both spin. */
    public static TransferPlan pingPong(BenchOperation operation, int size) {
        return TransferPlan.pingPong(operation, size, Waiting.SPIN);
    }

    /** Two sidecars whose applications use one path of work, and the recorder of their samples. */
    private record Way(Lab lab, Recorder recorder, SidecarPair pair) {

        void settle() {
            SidecarTests.settle(lab, () -> {
                SidecarTests.warm(pair, STEPS, SIZES);
                BesideTests.warm(pair);
            });
        }

        void stream(BenchOperation operation, ThroughputPart.Step step) {
            SidecarTests.moment(lab, recorder, pair, operation.toString(), step, lab.warmup(), lab.time());
        }

        void pingPong(BenchOperation operation, int size) {
            SidecarTests.record(
                    lab, recorder, SidecarTests.pingPong(pair, operation.toString(), size, lab.warmup(), lab.time()));
        }

        /** Measures the relay in C with the same messages. */
        void relay(Relay relay) {
            for (BenchOperation operation : OPERATIONS) {
                double[] micros = relay.latencyMicros(operation.toString(), lab.time());
                Subject message = relayed(SidecarTests.pingPong(operation.toString(), LatencyPart.SIZE));
                recorder.add(message, Metric.P50_MICROSECONDS, micros[0]);
                recorder.add(message, Metric.P99_MICROSECONDS, micros[1]);
                double rate = relay.messagesPerSecond(operation.toString(), lab.time());
                recorder.add(
                        relayed(SidecarTests.stream(operation.toString(), SMALL)), Metric.MESSAGES_PER_SECOND, rate);
                lab.progress()
                        .accept(String.format(
                                Locale.ROOT,
                                "C relay: %s 8 B: p50 %.1f us, p99 %.1f us; 64 B: %.0f messages/s",
                                operation,
                                micros[0],
                                micros[1],
                                rate));
            }
        }

        void beside(BesideTests.Stream stream) {
            BesideTests.measure(lab, recorder, pair, stream);
        }
    }

    /** Returns the relay in C as the counterpart of an application. */
    public static Subject relayed(Subject application) {
        return application.of(RELAY);
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        try (EndPair engine = lab.start(EndKind.ENGINE, plans());
                SidecarPair rings = lab.startSidecars(QueuePath.RINGS);
                SidecarPair grpc = lab.startSidecars(QueuePath.GRPC)) {
            List<Way> ways = List.of(
                    new Way(lab.saying("rings: "), recorder, rings),
                    new Way(lab.saying("gRPC: "), recorder.with(GRPC), grpc));
            ways.forEach(Way::settle);
            Optional<Relay> relay = Relay.fits(lab.active(), lab.passive())
                    ? Optional.of(Relay.compile(lab.build().root(), lab.directory(), lab.active(), lab.passive()))
                    : Optional.empty();
            for (int turn = 0; turn < (lab.quick() ? QUICK_TURNS : TURNS); turn++) {
                measure(lab, recorder, engine, ways);
                relay.ifPresent(ways.getFirst()::relay);
            }
            IdleQueue.measure(lab, recorder, rings.active());
        }
        Quotas.measure(lab, recorder);
    }

    private static void measure(Lab lab, Recorder recorder, EndPair engine, List<Way> ways) {
        for (BenchOperation operation : OPERATIONS) {
            for (int size : SIZES) {
                Samples.record(lab, recorder, engine, pingPong(operation, size));
                ways.forEach(way -> way.pingPong(operation, size));
            }
            for (ThroughputPart.Step step : STEPS) {
                Samples.record(lab, recorder, engine, step.plan(operation));
                ways.forEach(way -> way.stream(operation, step));
            }
        }
        BesideTests.STREAMS.forEach(stream -> ways.forEach(way -> way.beside(stream)));
    }

    private static List<TransferPlan> plans() {
        List<TransferPlan> plans = new ArrayList<>();
        for (BenchOperation operation : OPERATIONS) {
            STEPS.forEach(step -> plans.add(step.plan(operation)));
            SIZES.forEach(size -> plans.add(pingPong(operation, size)));
        }
        return plans;
    }
}
