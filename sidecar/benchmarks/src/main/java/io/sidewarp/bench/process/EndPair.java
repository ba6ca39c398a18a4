// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.EndCommand;
import io.sidewarp.bench.end.EndCommand.Verb;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.EndProgram;
import io.sidewarp.bench.end.EndReply;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import io.sidewarp.bench.end.Usage;
import io.sidewarp.bench.result.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** Two ends of one kind, each a JVM that runs {@link EndProgram}. */
public final class EndPair implements Program {

    /** Smallest size of a message whose costs its bytes determine. */
    static final int LARGE = 1024;

    private static final double GIB = 1L << 30;

    private final String name;
    private final JvmProcess passive;
    private final JvmProcess active;

    private EndPair(String name, JvmProcess passive, JvmProcess active) {
        this.name = name;
        this.passive = passive;
        this.active = active;
    }

    /** Starts both ends. */
    public static EndPair start(String name, Build build, EndKind kind, Place active, Place passive, Path directory) {
        JvmProcess other = start(build, kind, "passive", passive, passive.address(), directory);
        try {
            return new EndPair(name, other, start(build, kind, "active", active, passive.address(), directory));
        } catch (RuntimeException e) {
            other.close();
            throw e;
        }
    }

    private static JvmProcess start(
            Build build, EndKind kind, String role, Place place, String address, Path directory) {
        return JvmProcess.start(
                kind + "-" + role, build, EndProgram.class, place, directory, kind.name(), role, address);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time) {
        connect(plan);
        Map<Metric, Double> figures = run(plan, warmup, time);
        release();
        return figures;
    }

    /** Prepares both ends for a plan. */
    public void connect(TransferPlan plan) {
        int port = call(passive, EndCommand.listen(plan)).port();
        call(active, EndCommand.connect(plan, port));
    }

    /** Measures the plan for which both ends are prepared. */
    public Map<Metric, Double> run(TransferPlan plan, Duration warmup, Duration time) {
        if (warmup.isPositive()) {
            call(active, EndCommand.run(warmup.toNanos()));
        }
        call(passive, EndCommand.of(Verb.BEGIN));
        EndReply ran = call(active, EndCommand.run(time.toNanos()));
        EndReply used = call(passive, EndCommand.of(Verb.END));
        return figures(
                plan,
                Objects.requireNonNull(ran.outcome()),
                Objects.requireNonNull(ran.usage()),
                Objects.requireNonNull(used.usage()));
    }

    /** Returns the figures of an outcome, with the resources that the active and the passive end used meanwhile. */
    static Map<Metric, Double> figures(TransferPlan plan, DutyOutcome outcome, Usage active, Usage passive) {
        Map<Metric, Double> figures = new EnumMap<>(Metric.class);
        double messages = outcome.messages();
        double octets = messages * plan.size();
        if (plan.mode() == Mode.PING_PONG) {
            figures.put(Metric.P50_MICROSECONDS, outcome.latency().p50() / 1e3);
            figures.put(Metric.P99_MICROSECONDS, outcome.latency().p99() / 1e3);
            figures.put(Metric.P99_9_MICROSECONDS, outcome.latency().p999() / 1e3);
        } else if (plan.size() < LARGE) {
            figures.put(Metric.MESSAGES_PER_SECOND, messages * 1e9 / outcome.nanos());
        } else {
            figures.put(Metric.GIGABITS_PER_SECOND, octets * 8 / outcome.nanos());
            figures.put(Metric.ACTIVE_CPU_SECONDS_PER_GIB, active.cpuNanos() / 1e9 / (octets / GIB));
            figures.put(Metric.PASSIVE_CPU_SECONDS_PER_GIB, passive.cpuNanos() / 1e9 / (octets / GIB));
        }
        figures.put(Metric.ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE, active.allocatedOctets() / messages);
        figures.put(Metric.PASSIVE_ALLOCATED_OCTETS_PER_MESSAGE, passive.allocatedOctets() / messages);
        figures.put(Metric.COLLECTIONS, (double) (active.collections() + passive.collections()));
        figures.put(Metric.COLLECTION_MILLISECONDS, (double) (active.collectionMillis() + passive.collectionMillis()));
        return figures;
    }

    /** Returns the bytes of memory that the active end uses, without garbage. */
    public long activeMemory() {
        return call(active, EndCommand.of(Verb.MEMORY)).memory();
    }

    /** Returns the bytes of memory that the passive end uses, without garbage. */
    public long passiveMemory() {
        return call(passive, EndCommand.of(Verb.MEMORY)).memory();
    }

    /** Returns the process of the end that keeps the time. */
    public long activePid() {
        return active.pid();
    }

    /** Returns the process of the other end. */
    public long passivePid() {
        return passive.pid();
    }

    /** Ends the plan. */
    public void release() {
        call(active, EndCommand.of(Verb.RELEASE));
        call(passive, EndCommand.of(Verb.RELEASE));
    }

    /** Sends a command to an end. Fails if the end cannot carry it out. */
    private static EndReply call(JvmProcess end, EndCommand command) {
        EndReply reply = end.ask(command, EndReply.class);
        String error = reply.error();
        if (error != null) {
            throw end.failure(command.toString(), error, null);
        }
        return reply;
    }

    @Override
    public void close() {
        active.close();
        passive.close();
    }
}
