// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.process.PerfReport;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Sizes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Measures Reads of 8 bytes, one at a time, beside the stream of another application through the same two sidecars.
 * This shows how long a small message waits for large ones. With one processor at each end, a sidecar has one event
 * loop for both applications. Applications sleep while they wait: Linux takes a whole time slice from a thread that
 * yields to one that computes.
 */
public final class BesideTests {

    /** Streams beside the messages. */
    public static final List<Stream> STREAMS = List.of(
            new Stream("write", new ThroughputPart.Step(64 << 10, 16)),
            new Stream("write", new ThroughputPart.Step(1 << 20, 64)),
            new Stream("read", new ThroughputPart.Step(1 << 20, 64)));

    private static final String OPERATION = "read";
    private static final Duration SETTLING = Duration.ofMillis(250);

    /** Additional time of a stream, by attempts. Messages have to connect and end before the stream ends. */
    private static final List<Duration> LEADS =
            List.of(Duration.ofSeconds(1), Duration.ofSeconds(3), Duration.ofSeconds(9));

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** A stream of Writes or Reads. */
    public record Stream(String operation, ThroughputPart.Step step) {

        @Override
        public String toString() {
            return operation + " " + Sizes.format(step.size()) + ", depth " + step.depth();
        }
    }

    /** Returns the subject for messages beside a stream. */
    public static Subject beside(Stream stream) {
        return SidecarTests.pingPong(OPERATION, LatencyPart.SIZE).of("application beside " + stream);
    }

    /** Returns the subject for a stream beside messages. */
    public static Subject besideMessages(Stream stream) {
        return SidecarTests.stream(stream.operation(), stream.step())
                .of("application beside " + OPERATION + " " + Sizes.format(LatencyPart.SIZE));
    }

    private BesideTests() {}

    /** Runs each stream with messages beside it for a moment. */
    static void warm(SidecarPair pair) {
        STREAMS.forEach(stream -> beside(pair, stream, Duration.ZERO, SETTLING));
    }

    /** Measures messages and a stream beside each other. */
    static void measure(Lab lab, Recorder recorder, SidecarPair pair, Stream stream) {
        Both both = beside(pair, stream, lab.warmup(), lab.time());
        SidecarTests.record(lab, recorder, beside(stream), both.messages());
        SidecarTests.record(lab, recorder, besideMessages(stream), both.stream());
    }

    private static PerfReport pingPong(SidecarPair pair, Duration warmup, Duration time) {
        return SidecarTests.pingPongSleeping(pair, OPERATION, LatencyPart.SIZE, warmup, time);
    }

    /** Runs a stream for longer than the messages beside it. If the stream ends first, repeats with a longer stream. */
    private static Both beside(SidecarPair pair, Stream stream, Duration warmup, Duration time) {
        for (Duration lead : LEADS) {
            CompletableFuture<PerfReport> streaming =
                    begin(pair, stream, warmup, warmup.plus(time).plus(lead));
            PerfReport messages = pingPong(pair, warmup.multipliedBy(2), time);
            boolean overlapped = !streaming.isDone();
            PerfReport streamed = await(streaming);
            if (overlapped) {
                return new Both(messages, streamed);
            }
        }
        throw new Failure(ExitCode.FAILED, stream + " ended before the messages beside it, " + LEADS.size() + " times");
    }

    private record Both(PerfReport messages, PerfReport stream) {}

    /** Starts a stream by the second application, which streams even if nothing runs beside it. */
    private static CompletableFuture<PerfReport> begin(
            SidecarPair pair, Stream stream, Duration warmup, Duration time) {
        return pair.perfBeside(stream.operation(), warmup, time, SidecarTests.options(stream.step()))
                .thenApply(List::getFirst);
    }

    private static PerfReport await(CompletableFuture<PerfReport> report) {
        try {
            return report.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new Failure(ExitCode.FAILED, "a stream beside messages failed: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }
}
