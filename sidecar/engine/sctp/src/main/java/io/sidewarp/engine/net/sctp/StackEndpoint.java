// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import java.net.InetAddress;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The part of an endpoint that is common to all stacks: its associations, their limit, and the timer that runs while
 * there are any. Everything happens on the loop that owns the endpoint.
 */
public abstract class StackEndpoint<A extends StackAssociation> implements SctpEndpoint {

    private final EngineLoops loops;
    private final EventLoop loop;
    private final List<InetAddress> local;
    private final OptionalInt adaptation;
    private final WireBuffer messages;
    private final long tickNanos;
    private final AtomicLongArray counters = new AtomicLongArray(SctpCounter.values().length);
    private final Set<A> associations = new LinkedHashSet<>();
    private SctpSettings settings;
    private @Nullable ScheduledFuture<?> ticking;
    private int outgoing;
    private boolean closed;

    /** @param tick interval between two calls of {@link #tick} */
    protected StackEndpoint(
            EngineLoops loops,
            EventLoop loop,
            List<InetAddress> local,
            OptionalInt adaptation,
            SctpSettings settings,
            Duration tick) {
        this.loops = loops;
        this.loop = loop;
        this.local = List.copyOf(local);
        this.adaptation = adaptation;
        this.settings = settings;
        this.tickNanos = tick.toNanos();
        this.messages = WireBuffer.allocate(settings.largestMessage());
    }

    // Methods of a stack.

    /** Checks the associations for changes that no input reports. */
    protected abstract void tick();

    protected abstract void closeListeners();

    /** Releases everything, after the listeners and the associations have ended. */
    protected abstract CompletableFuture<Void> release();

    // State.

    public final EngineLoops loops() {
        return loops;
    }

    @Override
    public final EventLoop loop() {
        return loop;
    }

    @Override
    public final List<InetAddress> localAddresses() {
        return local;
    }

    public final OptionalInt adaptation() {
        return adaptation;
    }

    public final SctpSettings settings() {
        return settings;
    }

    /** Replaces the settings, for associations that begin later. */
    protected final void changeSettings(SctpSettings changed) {
        settings = changed;
    }

    /** Returns the buffer of received messages. Each message is consumed before the next is received. */
    public final WireBuffer messages() {
        return messages;
    }

    @Override
    public final long count(SctpCounter counter) {
        return counters.get(counter.ordinal());
    }

    public final void increment(SctpCounter counter) {
        counters.incrementAndGet(counter.ordinal());
    }

    // Associations.

    /** Steps that may fail. */
    @FunctionalInterface
    protected interface Work {
        void run() throws Exception;
    }

    /** Runs work on the loop, unless the endpoint is closed. A failure of the work is a failure of its result. */
    protected final void onLoop(CompletableFuture<?> result, Work work) {
        loop.execute(() -> {
            try {
                if (closed) {
                    throw new IllegalStateException("the endpoint is closed");
                }
                if (!result.isCancelled()) {
                    work.run();
                }
            } catch (Exception | Error e) {
                // For example, memory may be short.
                result.completeExceptionally(e);
            }
        });
    }

    protected final Set<A> associations() {
        return associations;
    }

    /** Fails when this side has begun as many associations as it may. */
    protected final void requireRoom() throws SctpConnectException {
        if (outgoing >= settings.maxAssociations()) {
            throw SctpConnectException.tooMany(settings.maxAssociations());
        }
    }

    /** Returns the number of associations that peers began, or are beginning. */
    protected final int incoming() {
        return associations.size() - outgoing;
    }

    /** Begins an association and ends it when this fails. Otherwise it would count towards the limits for ever. */
    protected final void begin(A association, Runnable work) {
        try {
            associations.add(association);
            if (association.isOutgoing()) {
                outgoing++;
            }
            if (ticking == null) {
                ticking = loop.scheduleWithFixedDelay(this::tickGuarded, tickNanos, tickNanos, TimeUnit.NANOSECONDS);
            }
            work.run();
        } catch (RuntimeException | Error e) {
            association.endNow("this side failed: " + e);
            throw e;
        }
    }

    private void tickGuarded() {
        try {
            tick();
        } catch (RuntimeException | Error e) {
            loops.onFault(e);
        }
    }

    /** Removes an association that is over. */
    public void remove(A association) {
        if (associations.remove(association) && association.isOutgoing()) {
            outgoing--;
        }
        if (associations.isEmpty() && ticking != null) {
            ticking.cancel(false);
            ticking = null;
        }
    }

    @Override
    public final CompletableFuture<Void> close() {
        CompletableFuture<Void> result = new CompletableFuture<>();
        loop.execute(() -> {
            if (closed) {
                result.complete(null);
                return;
            }
            closed = true;
            closeListeners();
            List.copyOf(associations).forEach(association -> association.endNow("the endpoint was closed"));
            release().thenRun(() -> result.complete(null));
        });
        return result;
    }
}
