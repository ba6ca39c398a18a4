// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.DutyOutcome.Latency;
import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Iperf;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.process.Measurement;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.time.Duration;
import java.util.Locale;

/** Converts the measurements of ends to samples. */
public final class Samples {

    /** Smallest message size with a CPU figure. For smaller messages, bytes do not determine the costs. */
    public static final int LEAST_SIZE_FOR_CPU = 1024;

    private static final Duration DISTANCE_TIME = Duration.ofMillis(20);

    private static final long IPERF_OCTETS = 256L << 20;

    private Samples() {}

    /** Returns the subject for a plan of the engine. */
    public static Subject engine(TransferPlan plan) {
        return new Subject(
                "engine",
                plan.operation().toString(),
                plan.size(),
                plan.depth(),
                plan.signal(),
                plan.connections(),
                plan.crc(),
                plan.markers(),
                0,
                plan.waiting().toString());
    }

    /** Describes a subject for people, in one line. */
    static String describe(Subject subject) {
        StringBuilder text = new StringBuilder(subject.program())
                .append(' ')
                .append(subject.operation())
                .append(' ')
                .append(Sizes.format(subject.size()));
        if (subject.depth() > 1 || subject.program().equals("engine")) {
            text.append(", depth ").append(subject.depth()).append(", signal ").append(subject.signal());
            text.append(subject.connections() > 1 ? ", " + subject.connections() + " connections" : "");
            text.append(subject.crc() ? "" : ", no CRC").append(subject.markers() ? ", Markers" : "");
        }
        return text.append(", ").append(subject.waiting()).toString();
    }

    private static void add(Recorder recorder, Subject subject, Measurement measurement) {
        if (measurement.plan().mode() == Mode.PING_PONG) {
            Latency latency = measurement.outcome().latency();
            recorder.add(subject, Metric.P50_MICROSECONDS, latency.p50() / 1e3);
            recorder.add(subject, Metric.P99_MICROSECONDS, latency.p99() / 1e3);
            recorder.add(subject, Metric.P99_9_MICROSECONDS, latency.p999() / 1e3);
        } else {
            recorder.add(subject, Metric.GIGABITS_PER_SECOND, measurement.gigabitsPerSecond());
            recorder.add(subject, Metric.MESSAGES_PER_SECOND, measurement.messagesPerSecond());
            if (subject.size() >= LEAST_SIZE_FOR_CPU) {
                recorder.add(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB, measurement.cpuPerGib(measurement.active()));
                recorder.add(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB, measurement.cpuPerGib(measurement.passive()));
            }
        }
        recorder.add(
                subject,
                Metric.ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE,
                measurement.allocatedPerMessage(measurement.active()));
        recorder.add(
                subject,
                Metric.PASSIVE_ALLOCATED_OCTETS_PER_MESSAGE,
                measurement.allocatedPerMessage(measurement.passive()));
        long collections =
                measurement.active().collections() + measurement.passive().collections();
        long millis =
                measurement.active().collectionMillis() + measurement.passive().collectionMillis();
        recorder.add(subject, Metric.COLLECTIONS, (double) collections);
        recorder.add(subject, Metric.COLLECTION_MILLISECONDS, (double) millis);
    }

    /** Returns a plan for one stream of a program without RDMA. */
    static TransferPlan peerStream(int size) {
        return TransferPlan.stream(BenchOperation.SEND, size, 1).withWaiting(Waiting.SLEEP);
    }

    /** Measures a plan of the engine. */
    static void record(Lab lab, Recorder recorder, EndPair pair, TransferPlan plan) {
        record(lab, recorder, pair, plan, engine(plan));
    }

    /** Measures a plan. */
    static void record(Lab lab, Recorder recorder, EndPair pair, TransferPlan plan, Subject subject) {
        record(lab, recorder, lab.measure(pair, plan), subject);
    }

    /** Records a measurement. */
    static void record(Lab lab, Recorder recorder, Measurement measurement, Subject subject) {
        add(recorder, subject, measurement);
        Latency latency = measurement.outcome().latency();
        lab.progress()
                .accept(describe(subject)
                        + (measurement.plan().mode() == Mode.PING_PONG
                                ? String.format(
                                        Locale.ROOT,
                                        ": p50 %.1f us, p99 %.1f us, p99.9 %.1f us",
                                        latency.p50() / 1e3,
                                        latency.p99() / 1e3,
                                        latency.p999() / 1e3)
                                : String.format(
                                        Locale.ROOT,
                                        ": %.2f Gbit/s, %.0f messages/s",
                                        measurement.gigabitsPerSecond(),
                                        measurement.messagesPerSecond())));
    }

    /** Measures the distance between the processors of the ends, which may change from moment to moment. */
    static void distance(Lab lab, Recorder recorder, EndPair pair) {
        double micros = distance(pair);
        recorder.add(Peers.line(), Metric.P50_MICROSECONDS, micros);
        lab.progress()
                .accept(String.format(Locale.ROOT, "a cache line there and back: %.0f ns", Math.rint(micros * 1e3)));
    }

    /** Returns the round-trip time of a cache line between the processors of the ends, in microseconds. */
    static double distance(EndPair pair) {
        TransferPlan plan = TransferPlan.pingPong(BenchOperation.SEND, Long.BYTES, Waiting.SPIN);
        return pair.measure(plan, Duration.ZERO, DISTANCE_TIME)
                        .outcome()
                        .latency()
                        .p50()
                / 1e3;
    }

    /**
     * Measures one stream of iperf3, which accepts whole seconds only. For less than a second, iperf3 sends a fixed
     * number of bytes.
     */
    static void iperf(Lab lab, Recorder recorder, IperfKind kind) {
        int seconds = (int) lab.time().toSeconds();
        if (seconds > 0) {
            Iperf.Result result = new Iperf(lab.active(), lab.passive()).measure(kind, seconds);
            record(lab, recorder, Peers.iperf(kind), result);
        } else {
            iperf(lab, recorder, kind, IPERF_OCTETS, Peers.iperf(kind));
        }
    }

    /** Measures one stream of iperf3 that ends after a number of bytes. */
    static void iperf(Lab lab, Recorder recorder, IperfKind kind, long octets, Subject subject) {
        record(lab, recorder, subject, new Iperf(lab.active(), lab.passive()).transfer(kind, octets));
    }

    private static void record(Lab lab, Recorder recorder, Subject subject, Iperf.Result result) {
        recorder.add(subject, Metric.GIGABITS_PER_SECOND, result.gigabitsPerSecond());
        recorder.add(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB, result.activeCpuPerGib());
        recorder.add(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB, result.passiveCpuPerGib());
        lab.progress()
                .accept(describe(subject) + String.format(Locale.ROOT, ": %.2f Gbit/s", result.gigabitsPerSecond()));
    }
}
