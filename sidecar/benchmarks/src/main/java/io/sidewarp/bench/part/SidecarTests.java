// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.PerfReport;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Measurements between two applications, independent of the transport below their sidecars. */
public final class SidecarTests {

    /** Message sizes of throughput, and the number of messages in flight. */
    public static final List<ThroughputPart.Step> STEPS = List.of(
            new ThroughputPart.Step(64, 128),
            new ThroughputPart.Step(4 << 10, 64),
            new ThroughputPart.Step(64 << 10, 16),
            new ThroughputPart.Step(1 << 20, 8));

    /** Message sizes of latency. */
    public static final List<Integer> LATENCY_SIZES = List.of(8, 4 << 10, 64 << 10, 1 << 20);

    public static final List<String> OPERATIONS = List.of("write", "read");

    private static final Duration WARMUP = Duration.ofSeconds(1);

    /** Time to settle. If application and sidecar share a processor, their JVMs compile for more than a minute. */
    private static final Duration SETTLING = Duration.ofSeconds(90);

    private static final Duration SETTLING_STREAM = Duration.ofSeconds(1);

    private static final Duration SETTLING_LATENCY = Duration.ofMillis(250);

    private static final int MOST_UNSIGNALED = 64;

    /** Factor between the time of a measurement and that of engines. */
    private static final int FACTOR = 2;

    private SidecarTests() {}

    /** Returns the subject for a stream of messages. */
    public static Subject stream(String operation, ThroughputPart.Step step) {
        return subject(operation, step.size(), step.depth(), signal(step.depth()));
    }

    /** Returns the subject for one message at a time. */
    public static Subject pingPong(String operation, int size) {
        return subject(operation, size, 1, 1);
    }

    /** Returns the messages for one completion, as in {@code sidewarp perf}: half of the depth but at most 64. */
    private static int signal(int depth) {
        return Math.clamp(depth / 2, 1, MOST_UNSIGNALED);
    }

    private static Subject subject(String operation, long size, int depth, int signal) {
        return new Subject(
                "application", operation, size, depth, signal, 1, true, false, 0, Waiting.ADAPTIVE.toString());
    }

    /** Runs all measurements in short turns, before anything counts. */
    static void settle(Lab lab, SidecarPair pair) {
        settle(lab, pair, STEPS, LATENCY_SIZES);
    }

    /** Runs some of the streams and sizes in short turns, before anything counts. */
    static void settle(Lab lab, SidecarPair pair, List<ThroughputPart.Step> steps, List<Integer> sizes) {
        settle(lab, () -> warm(pair, steps, sizes));
    }

    /** Runs each stream and size for a moment. */
    static void warm(SidecarPair pair, List<ThroughputPart.Step> steps, List<Integer> sizes) {
        for (String operation : OPERATIONS) {
            steps.forEach(step -> pair.perf(operation, Duration.ZERO, SETTLING_STREAM, options(step)));
            pair.perf(operation, Duration.ZERO, SETTLING_LATENCY, latencyOptions(sizes));
        }
    }

    /** Repeats a round until everything has settled, before anything counts. */
    static void settle(Lab lab, Runnable round) {
        long end = System.nanoTime() + (lab.quick() ? 0 : SETTLING.toNanos());
        while (System.nanoTime() - end < 0) {
            round.run();
        }
    }

    static String[] options(ThroughputPart.Step step) {
        return new String[] {
            "--size",
            String.valueOf(step.size()),
            "--depth",
            String.valueOf(step.depth()),
            "--signal",
            String.valueOf(signal(step.depth()))
        };
    }

    private static String[] latencyOptions(List<Integer> sizes) {
        return new String[] {
            "--latency",
            "--size",
            String.join(",", sizes.stream().map(String::valueOf).toList())
        };
    }

    /** Measures throughput of one size, by Write and Read. */
    static void stream(Lab lab, Recorder recorder, SidecarPair pair, ThroughputPart.Step step) {
        stream(lab, recorder, pair, step, () -> {});
    }

    /**
     * Measures throughput of one size, by Write and Read.
     *
     * @param beside measures a peer right before each operation
     */
    static void stream(Lab lab, Recorder recorder, SidecarPair pair, ThroughputPart.Step step, Runnable beside) {
        Duration warmup = lab.quick() ? lab.time() : WARMUP;
        for (String operation : OPERATIONS) {
            beside.run();
            moment(lab, recorder, pair, operation, step, warmup, lab.time().multipliedBy(FACTOR));
        }
    }

    /** Measures throughput of one size and operation in a time of its own. */
    static void moment(
            Lab lab,
            Recorder recorder,
            SidecarPair pair,
            String operation,
            ThroughputPart.Step step,
            Duration warmup,
            Duration time) {
        pair.perf(operation, warmup, time, options(step)).forEach(report -> record(lab, recorder, report));
    }

    /** Streams for a moment, and returns the rate in Gbit/s. */
    static double rate(SidecarPair pair, String operation, ThroughputPart.Step step, Duration warmup, Duration time) {
        return pair.perf(operation, warmup, time, options(step)).getFirst().gigabitsPerSecond();
    }

    /** Measures latency, by Write and Read. */
    static void pingPong(Lab lab, Recorder recorder, SidecarPair pair, List<Integer> sizes) {
        for (String operation : OPERATIONS) {
            pair.perf(operation, lab.time(), lab.time(), latencyOptions(sizes))
                    .forEach(report -> record(lab, recorder, report));
        }
    }

    /** Measures latency of messages of one size in a time of its own. */
    static PerfReport pingPong(SidecarPair pair, String operation, int size, Duration warmup, Duration time) {
        return pair.perf(operation, warmup, time, latencyOptions(List.of(size))).getFirst();
    }

    /** Measures latency as {@link #pingPong}, with an application that sleeps while it waits. */
    static PerfReport pingPongSleeping(SidecarPair pair, String operation, int size, Duration warmup, Duration time) {
        return pair.perfSleeping(operation, warmup, time, latencyOptions(List.of(size)))
                .getFirst();
    }

    /** Records a report. */
    static void record(Lab lab, Recorder recorder, PerfReport report) {
        record(lab, recorder, subject(report.operation(), report.size(), report.depth(), report.signal()), report);
    }

    /** Records a report for a subject. */
    static void record(Lab lab, Recorder recorder, Subject subject, PerfReport report) {
        if (report.latency()) {
            recorder.add(subject, Metric.P50_MICROSECONDS, report.p50Micros());
            recorder.add(subject, Metric.P99_MICROSECONDS, report.p99Micros());
            recorder.add(subject, Metric.P99_9_MICROSECONDS, report.p999Micros());
        } else {
            recorder.add(subject, Metric.GIGABITS_PER_SECOND, report.gigabitsPerSecond());
            recorder.add(subject, Metric.MESSAGES_PER_SECOND, report.messagesPerSecond());
            if (report.size() >= Samples.LEAST_SIZE_FOR_CPU) {
                recorder.add(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB, report.activeCpuPerGib());
                recorder.add(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB, report.passiveCpuPerGib());
            }
        }
        lab.progress()
                .accept(Samples.describe(subject)
                        + (report.latency()
                                ? String.format(
                                        Locale.ROOT,
                                        ": p50 %.1f us, p99 %.1f us",
                                        report.p50Micros(),
                                        report.p99Micros())
                                : String.format(
                                        Locale.ROOT,
                                        ": %.2f Gbit/s, %.0f messages/s",
                                        report.gigabitsPerSecond(),
                                        report.messagesPerSecond())));
    }
}
