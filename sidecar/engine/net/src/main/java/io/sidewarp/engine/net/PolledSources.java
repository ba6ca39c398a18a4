// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Sources of work that an event loop polls besides its sockets, such as rings in shared memory. The loop polls them in
 * each turn, and arms them before it sleeps. Belongs to one loop.
 */
public final class PolledSources {

    /** A source of work. Its methods run on the loop. */
    public interface Source {

        /** Takes some of the available work. */
        Outcome poll();

        /**
         * Arranges for a wake-up, because the loop is about to sleep. An armed source is polled again after it is added
         * again.
         *
         * @return false when there is work; the source is then not armed
         */
        boolean arm();

        /** Takes an exception of {@link #poll} or {@link #arm}. The source is not polled any more. */
        void fail(Throwable failure);
    }

    /** Result of {@link Source#poll}. */
    public enum Outcome {
        /** There was work. */
        WORKED,
        /** There was no work. */
        IDLE,
        /** The source must not be polled until it is added again. */
        LEAVES
    }

    private static final FastThreadLocal<PolledSources> OF_LOOP = new FastThreadLocal<>() {
        @Override
        protected PolledSources initialValue() {
            return new PolledSources();
        }
    };

    private @Nullable Source[] sources = new Source[4];
    private int count;

    /** Returns the sources of the calling loop. */
    public static PolledSources ofThisLoop() {
        return OF_LOOP.get();
    }

    /** Polls a source from now on. The source must not be polled already. */
    public void add(Source source) {
        if (count == sources.length) {
            sources = Arrays.copyOf(sources, 2 * count);
        }
        sources[count++] = source;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Polls each source once; returns whether there was work. */
    boolean poll() {
        boolean worked = false;
        int kept = 0;
        for (int i = 0; i < count; i++) {
            Source source = sources[i];
            Outcome outcome = source == null ? Outcome.LEAVES : poll(source);
            worked |= outcome == Outcome.WORKED;
            if (outcome != Outcome.LEAVES) {
                sources[kept++] = source;
            }
        }
        keep(kept);
        return worked;
    }

    /** Arms all sources; returns whether all are armed, so that the loop may sleep. */
    boolean arm() {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            Source source = sources[i];
            if (source != null && !arm(source)) {
                sources[kept++] = source;
            }
        }
        keep(kept);
        return count == 0;
    }

    private void keep(int kept) {
        Arrays.fill(sources, kept, count, null);
        count = kept;
    }

    private static Outcome poll(Source source) {
        try {
            return source.poll();
        } catch (RuntimeException | Error e) {
            source.fail(e);
            return Outcome.LEAVES;
        }
    }

    private static boolean arm(Source source) {
        try {
            return source.arm();
        } catch (RuntimeException | Error e) {
            source.fail(e);
            return true;
        }
    }
}
