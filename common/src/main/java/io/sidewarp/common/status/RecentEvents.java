// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.status;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * The events of the last minutes. Equal events are kept once, with their number. Thread-safe.
 *
 * @param <E> an event, without its time
 */
public final class RecentEvents<E> {

    /** Age at which events are forgotten. Older ones are the business of the log. */
    public static final Duration AGE = Duration.ofMinutes(15);

    /** Number of different events. They fill some screens and take some 100 KiB at most. */
    static final int CAPACITY = 64;

    private final InstantSource clock;
    private final LinkedHashMap<E, Entry<E>> events = new LinkedHashMap<>();

    /**
     * Equal events.
     *
     * @param count number of them since the first of the kept ones
     * @param last time of the last one
     */
    public record Entry<E>(E event, long count, Instant last) {}

    public RecentEvents() {
        this(InstantSource.system());
    }

    RecentEvents(InstantSource clock) {
        this.clock = clock;
    }

    /** Adds an event. The oldest event makes room for it. */
    public synchronized void add(E event) {
        Instant now = clock.instant();
        Entry<E> former = events.remove(event);
        long count = former == null || isOld(former, now) ? 1 : former.count + 1;
        events.put(event, new Entry<>(event, count, now));
        if (events.size() > CAPACITY) {
            events.pollFirstEntry();
        }
    }

    /** Returns the events, the newest first. */
    public synchronized List<Entry<E>> list() {
        Instant now = clock.instant();
        events.values().removeIf(entry -> isOld(entry, now));
        return new ArrayList<>(events.values()).reversed();
    }

    private static boolean isOld(Entry<?> entry, Instant now) {
        return entry.last.plus(AGE).isBefore(now);
    }
}
