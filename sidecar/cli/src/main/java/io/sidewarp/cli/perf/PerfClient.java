// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The active end of tests. */
public final class PerfClient {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long DRAIN_SECONDS = 60;
    private static final Duration PROGRESS_PERIOD = Duration.ofMillis(500);

    private final Session session;
    private final HostPort peer;
    private final ConnectionFlags flags;
    private final ProcessCpu sidecar;
    private final QueueOptions queueOptions;

    /**
     * @param sidecar the process whose CPU time is reported
     * @param queueOptions path of the work, and how threads wait for completions and for RDMA Writes of a latency test
     */
    public PerfClient(
            Session session, HostPort peer, ConnectionFlags flags, ProcessCpu sidecar, QueueOptions queueOptions) {
        this.session = session;
        this.peer = peer;
        this.flags = flags;
        this.sidecar = sidecar;
        this.queueOptions = queueOptions;
    }

    /**
     * Runs one test.
     *
     * @param warmup time before the measurement
     * @param time length of the measurement
     */
    public PerfResult run(PerfPlan plan, Duration warmup, Duration time, ProgressLine progress) {
        try (Channel control = Channel.connect(session, peer, new Hello(Service.PERF), flags);
                SharedRegion region = session.createSharedRegion(
                        RegionNames.next("perf"),
                        plan.regionLength(),
                        Access.LOCAL_WRITE,
                        Access.REMOTE_READ,
                        Access.REMOTE_WRITE)) {
            if (plan.operation() != Operation.READ && !plan.latency()) {
                PerfTest.fill(region, plan);
            }
            control.send(new PerfMessage.Setup(plan, region.address()));
            PerfMessage.Ready ready =
                    control.receive(PATIENCE).expect(PerfMessage.Ready.TYPE, PerfMessage.Ready::decode);
            List<DataLink> links = new ArrayList<>();
            try {
                for (int index = 0; index < plan.connections(); index++) {
                    links.add(DataLink.connect(session, peer, flags, plan, region, ready, index, queueOptions));
                }
                return measure(control, plan, region, links, warmup, time, progress);
            } finally {
                links.forEach(DataLink::close);
            }
        }
    }

    private PerfResult measure(
            Channel control,
            PerfPlan plan,
            SharedRegion region,
            List<DataLink> links,
            Duration warmup,
            Duration time,
            ProgressLine progress) {
        links.forEach(link -> link.driver().start());
        await(links, warmup, plan, progress);
        control.send(new PerfMessage.Begin());
        control.receive(PATIENCE).expect(PerfMessage.Begin.TYPE, PerfMessage.Begin::decode);
        OptionalLong processAtBegin = ProcessCpu.own().nanos();
        OptionalLong sidecarAtBegin = sidecar.nanos();
        links.forEach(link -> link.driver().record(true));
        long messagesAtBegin = messages(links);
        long begin = System.nanoTime();

        await(links, time, plan, progress);

        links.forEach(link -> link.driver().record(false));
        // A Write or a Send is complete when it is handed over. Counts only messages that have arrived, and the time
        // until then.
        stop(links);
        long messages = messages(links) - messagesAtBegin;
        long nanos = System.nanoTime() - begin;
        long processNanos = ProcessCpu.own().since(processAtBegin);
        long sidecarNanos = sidecar.since(sidecarAtBegin);
        control.send(new PerfMessage.End());
        control.receive(PATIENCE).expect(PerfMessage.End.TYPE, PerfMessage.End::decode);

        // Asks at the end, because TCP's segments, and with them MULPDU, grow after the set-up.
        ConnectionInfo connection = links.getFirst().connection().info();
        control.send(new PerfMessage.Done(messages(links)));
        PerfMessage.Report report =
                control.receive(PATIENCE).expect(PerfMessage.Report.TYPE, PerfMessage.Report::decode);
        Histogram latencies = new Histogram();
        links.forEach(link -> latencies.add(link.driver().latencies()));
        progress.clear();
        verify(plan, region, links, report);
        return new PerfResult(
                plan,
                connection,
                nanos,
                messages,
                latencies,
                new PerfResult.CpuNanos(processNanos, sidecarNanos, report.processNanos(), report.sidecarNanos()));
    }

    private static void verify(PerfPlan plan, SharedRegion region, List<DataLink> links, PerfMessage.Report report) {
        boolean readHere = plan.operation() == Operation.READ && !plan.latency();
        long wrong = readHere ? PerfTest.countWrong(region, plan, plan.slots()) : report.wrong();
        if (wrong > 0) {
            throw new Failure(
                    ExitCode.FAILED,
                    wrong + " messages in " + (readHere ? "this" : "the peer's")
                            + " memory are wrong: data corruption");
        }
        long sent = messages(links);
        if (plan.operation() == Operation.SEND && report.received() < sent) {
            throw new Failure(
                    ExitCode.FAILED, sent + " messages were sent, but only " + report.received() + " arrived");
        }
    }

    /** Lets the test run for some time, or until a connection fails. */
    private static void await(List<DataLink> links, Duration time, PerfPlan plan, ProgressLine progress) {
        CompletableFuture<?> failed = CompletableFuture.anyOf(
                links.stream().map(link -> link.driver().finished()).toArray(CompletableFuture<?>[]::new));
        long begin = System.nanoTime();
        long end = begin + time.toNanos();
        long messages = messages(links);
        long shownAt = begin;
        while (true) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return;
            }
            long slice = progress.isVisible() ? Math.min(left, PROGRESS_PERIOD.toNanos()) : left;
            try {
                failed.get(slice, TimeUnit.NANOSECONDS);
                throw new Failure(ExitCode.INTERNAL, "a connection ended its test early");
            } catch (TimeoutException e) {
                long now = System.nanoTime();
                long latest = messages(links);
                double seconds = (now - shownAt) / 1e9;
                progress.update(String.format(
                        Locale.ROOT,
                        "%s %s: %.0f s left, %.2f Gbit/s, %.0f messages/s",
                        plan.operation(),
                        Sizes.format(plan.size()),
                        Math.max(0, (end - now) / 1e9),
                        (latest - messages) * plan.size() * 8 / seconds / 1e9,
                        (latest - messages) / seconds));
                messages = latest;
                shownAt = now;
            } catch (InterruptedException e) {
                throw Failure.interrupted();
            } catch (ExecutionException e) {
                throw Failures.of(e);
            }
        }
    }

    /** Ends the traffic. Returns when all messages have arrived. */
    private static void stop(List<DataLink> links) {
        links.forEach(link -> link.driver().stop());
        List<CompletableFuture<Void>> arrivals = links.stream()
                .map(link -> link.driver().finished().thenCompose(ignored -> link.fence()))
                .toList();
        try {
            for (CompletableFuture<Void> arrival : arrivals) {
                arrival.get(DRAIN_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        } catch (ExecutionException e) {
            throw Failures.of(e);
        } catch (TimeoutException e) {
            throw new Failure(
                    ExitCode.TEMPORARY, "messages in flight did not complete within " + DRAIN_SECONDS + " seconds", e);
        }
        Interruption.check();
    }

    private static long messages(List<DataLink> links) {
        return links.stream().mapToLong(link -> link.driver().messages()).sum();
    }
}
