// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.process.UsrsctpProgram;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.util.List;
import java.util.Locale;

/**
 * Measures two applications over SCTP, beside usrsctp alone with and without its checksum. The program usrsctp-transfer
 * splits itself into both ends. All processes may therefore use all processors.
 */
public final class SctpPart implements PartRunner {

    /** Returns the subject for a stream over usrsctp alone. */
    public static Subject stream(long size, boolean crc) {
        return new Subject("usrsctp", "stream", size, 1, 1, 1, crc, false, 0, Waiting.SLEEP.toString());
    }

    /** Returns the subject for round trips over usrsctp alone. */
    public static Subject echo(long size) {
        return new Subject("usrsctp", "echo", size, 1, 1, 1, true, false, 0, Waiting.SLEEP.toString());
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        UsrsctpProgram usrsctp = UsrsctpProgram.compile(lab.build().root(), lab.directory(), lab.progress());
        try (SidecarPair sidecars = lab.at(Place.ANYWHERE, Place.ANYWHERE).startSidecars("sctp")) {
            SidecarTests.settle(lab, sidecars);
            for (ThroughputPart.Step step : SidecarTests.STEPS) {
                for (boolean crc : List.of(true, false)) {
                    double rate = usrsctp.gigabitsPerSecond(step.size(), crc, lab.time());
                    recorder.add(stream(step.size(), crc), Metric.GIGABITS_PER_SECOND, rate);
                    lab.progress()
                            .accept(String.format(
                                    Locale.ROOT, "%s: %.2f Gbit/s", Samples.describe(stream(step.size(), crc)), rate));
                }
                SidecarTests.stream(lab, recorder, sidecars, step);
            }
            for (int size : SidecarTests.LATENCY_SIZES) {
                double[] latency = usrsctp.latencyMicros(size, lab.time());
                recorder.add(echo(size), Metric.P50_MICROSECONDS, latency[0]);
                recorder.add(echo(size), Metric.P99_MICROSECONDS, latency[1]);
            }
            SidecarTests.pingPong(lab, recorder, sidecars, SidecarTests.LATENCY_SIZES);
        }
    }
}
