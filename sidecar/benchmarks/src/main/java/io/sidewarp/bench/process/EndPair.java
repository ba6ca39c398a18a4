// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.EndCommand;
import io.sidewarp.bench.end.EndCommand.Verb;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.EndReply;
import io.sidewarp.bench.end.TransferPlan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** Two ends of one kind, which measure one plan after the other. */
public final class EndPair implements AutoCloseable {

    private final EndProcess passive;
    private final EndProcess active;

    private EndPair(EndProcess passive, EndProcess active) {
        this.passive = passive;
        this.active = active;
    }

    /** Starts both ends. */
    public static EndPair start(Build build, EndKind kind, Place active, Place passive, Path directory) {
        EndProcess other = EndProcess.start(build, kind, "passive", passive, passive.address(), directory);
        try {
            return new EndPair(other, EndProcess.start(build, kind, "active", active, passive.address(), directory));
        } catch (RuntimeException e) {
            other.close();
            throw e;
        }
    }

    /**
     * Memory of both processes.
     *
     * @param activeOctets bytes in use by the active end, without garbage
     * @param passiveOctets bytes in use by the passive end
     */
    public record Footprint(long activeOctets, long passiveOctets) {}

    /**
     * Measures a plan.
     *
     * @param warmup time of the same work before the measurement
     * @param time time of the measurement
     */
    public Measurement measure(TransferPlan plan, Duration warmup, Duration time) {
        connect(plan);
        Measurement measurement = run(plan, warmup, time);
        release();
        return measurement;
    }

    /** Prepares both ends for a plan. */
    public void connect(TransferPlan plan) {
        int port = passive.call(EndCommand.listen(plan)).port();
        active.call(EndCommand.connect(plan, port));
    }

    /** Measures the plan for which both ends are prepared. */
    public Measurement run(TransferPlan plan, Duration warmup, Duration time) {
        if (warmup.isPositive()) {
            active.call(EndCommand.run(warmup.toNanos()));
        }
        passive.call(EndCommand.of(Verb.BEGIN));
        EndReply ran = active.call(EndCommand.run(time.toNanos()));
        EndReply used = passive.call(EndCommand.of(Verb.END));
        return new Measurement(
                plan,
                Objects.requireNonNull(ran.outcome()),
                Objects.requireNonNull(ran.usage()),
                Objects.requireNonNull(used.usage()));
    }

    public Footprint footprint() {
        EndCommand memory = EndCommand.of(Verb.MEMORY);
        return new Footprint(active.call(memory).memory(), passive.call(memory).memory());
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
        active.call(EndCommand.of(Verb.RELEASE));
        passive.call(EndCommand.of(Verb.RELEASE));
    }

    @Override
    public void close() {
        active.close();
        passive.close();
    }
}
