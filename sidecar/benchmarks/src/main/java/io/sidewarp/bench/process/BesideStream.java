// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Sizes;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Messages, one at a time, beside the stream of another application through the same two sidecars. This shows how long a
 * small message waits for large ones. With one processor at each end, a sidecar has one event loop for both
 * applications. Applications sleep while they wait: Linux takes a whole time slice from a thread that yields to one that
 * computes.
 *
 * @param stream plan of the stream; its throughput is among the figures
 */
public record BesideStream(SidecarPair pair, TransferPlan stream) implements Program {

    /** Additional time of a stream, by attempts. Messages have to connect and end before the stream ends. */
    private static final List<Duration> LEADS =
            List.of(Duration.ofSeconds(1), Duration.ofSeconds(3), Duration.ofSeconds(9));

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Override
    public String name() {
        return pair.name() + " beside " + stream.operation() + " " + Sizes.format(stream.size()) + ", depth "
                + stream.depth();
    }

    /** Runs a stream for longer than the messages beside it. If the stream ends first, repeats with a longer stream. */
    @Override
    public Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time) {
        for (Duration lead : LEADS) {
            Duration streamTime = warmup.plus(time).plus(lead);
            CompletableFuture<Map<Metric, Double>> streaming = CompletableFuture.supplyAsync(
                    () -> pair.measureBeside(stream.withWaiting(Waiting.SLEEP), warmup, streamTime),
                    Thread::startVirtualThread);
            Map<Metric, Double> figures =
                    new EnumMap<>(pair.measure(plan.withWaiting(Waiting.SLEEP), warmup.multipliedBy(2), time));
            boolean overlapped = !streaming.isDone();
            figures.putAll(await(streaming));
            if (overlapped) {
                return figures;
            }
        }
        throw new Failure(ExitCode.FAILED, name() + ": the stream ended first, " + LEADS.size() + " times");
    }

    private static Map<Metric, Double> await(CompletableFuture<Map<Metric, Double>> report) {
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
