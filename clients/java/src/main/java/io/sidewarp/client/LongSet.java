// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.Arrays;
import java.util.function.LongConsumer;

/** A set of numbers other than 0, which allocates no object for a number. Not thread-safe. */
final class LongSet {

    private static final int INITIAL = 16;

    /**
     * Places of the numbers: open addressing with linear probes. 0 marks a free place. At most half of the places are
     * taken.
     */
    private long[] places = new long[INITIAL];

    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void add(long number) {
        int place = find(number);
        if (places[place] == number) {
            return;
        }
        places[place] = number;
        size++;
        if (2 * size > places.length) {
            grow();
        }
    }

    void remove(long number) {
        int gap = find(number);
        if (places[gap] != number) {
            return;
        }
        size--;
        places[gap] = 0;
        // Moves later numbers into the gap, unless their own place is behind it too.
        for (int place = next(gap); places[place] != 0; place = next(place)) {
            int home = home(places[place]);
            boolean between = gap < place ? gap < home && home <= place : gap < home || home <= place;
            if (!between) {
                places[gap] = places[place];
                places[place] = 0;
                gap = place;
            }
        }
    }

    boolean contains(long number) {
        return places[find(number)] == number;
    }

    void forEach(LongConsumer action) {
        for (long number : places.clone()) {
            if (number != 0) {
                action.accept(number);
            }
        }
    }

    private void grow() {
        long[] old = places;
        places = new long[2 * old.length];
        Arrays.stream(old).filter(number -> number != 0).forEach(number -> places[find(number)] = number);
    }

    /** Returns the place of a number, or the free place that the number would get. */
    private int find(long number) {
        int place = home(number);
        while (places[place] != 0 && places[place] != number) {
            place = next(place);
        }
        return place;
    }

    private int home(long number) {
        return Long.hashCode(number * 0x9E3779B97F4A7C15L) & places.length - 1;
    }

    private int next(int place) {
        return place + 1 & places.length - 1;
    }
}
