// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.Outcome.Latency;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.Iperf;
import io.sidewarp.bench.process.Measurement;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;

/** Turns what ends measured into samples. */
final class Samples {

    /** Below it the octets are not what costs. */
    private static final int LEAST_SIZE_FOR_CPU = 1024;

    private Samples() {}

    /** The engine's, as the plan says. */
    static Subject engine(TransferPlan plan) {
        return new Subject(
                "engine",
                plan.operation().toString(),
                plan.size(),
                plan.depth(),
                plan.signal(),
                plan.connections(),
                plan.crc(),
                plan.markers(),
                plan.waiting().toString());
    }

    /** For people, in one line. */
    static String describe(Subject subject) {
        StringBuilder text = new StringBuilder(subject.program())
                .append(' ')
                .append(subject.operation())
                .append(' ')
                .append(Sizes.format(subject.size()));
        if (subject.program().equals("engine")) {
            text.append(", depth ").append(subject.depth()).append(", signal ").append(subject.signal());
            text.append(subject.connections() > 1 ? ", " + subject.connections() + " connections" : "");
            text.append(subject.crc() ? "" : ", no CRC").append(subject.markers() ? ", Markers" : "");
        }
        return text.append(", ").append(subject.waiting()).toString();
    }

    static void add(Recorder recorder, Subject subject, Measurement measurement) {
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

    static void add(Recorder recorder, Subject subject, Iperf.Result result) {
        recorder.add(subject, Metric.GIGABITS_PER_SECOND, result.gigabitsPerSecond());
        recorder.add(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB, result.activeCpuPerGib());
        recorder.add(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB, result.passiveCpuPerGib());
    }
}
