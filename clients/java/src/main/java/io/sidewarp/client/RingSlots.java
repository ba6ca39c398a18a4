// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * State of outstanding requests for which an id is not enough: requests with a future, and requests that the peer
 * answers. The ring entry of such a request has the number of its place instead of the id. Thread-safe.
 */
final class RingSlots {

    private static final int INITIAL = 64;

    // Guarded by this.

    private boolean[] taken = new boolean[INITIAL];
    private long[] ids = new long[INITIAL];
    private long[] tickets = new long[INITIAL];
    private @Nullable CompletableFuture<WorkCompletion>[] futures = futures(INITIAL);
    private @Nullable Confirmation[] confirmations = new Confirmation[INITIAL];
    private int[] free = new int[INITIAL];
    private int freeCount;
    private int futureCount;

    RingSlots() {
        for (int place = INITIAL - 1; place >= 0; place--) {
            free[freeCount++] = place;
        }
    }

    /**
     * Takes a place.
     *
     * @param confirmation confirmation of the connection if the peer answers the request, together with a ticket; else
     *     null
     */
    synchronized int take(
            long id,
            @Nullable CompletableFuture<WorkCompletion> future,
            @Nullable Confirmation confirmation,
            long ticket) {
        if (freeCount == 0) {
            grow();
        }
        int place = free[--freeCount];
        taken[place] = true;
        ids[place] = id;
        futures[place] = future;
        futureCount += future == null ? 0 : 1;
        confirmations[place] = confirmation;
        tickets[place] = ticket;
        return place;
    }

    synchronized boolean isTaken(long place) {
        return place >= 0 && place < taken.length && taken[(int) place];
    }

    synchronized long id(int place) {
        return ids[place];
    }

    /** Frees a place, and returns the future of its request. */
    synchronized @Nullable CompletableFuture<WorkCompletion> complete(int place, boolean success) {
        CompletableFuture<WorkCompletion> future = futures[place];
        Confirmation confirmation = confirmations[place];
        if (success && confirmation != null) {
            confirmation.answered(tickets[place]);
        }
        taken[place] = false;
        futureCount -= future == null ? 0 : 1;
        futures[place] = null;
        confirmations[place] = null;
        free[freeCount++] = place;
        return future;
    }

    /** Returns how many requests with a future are outstanding. */
    synchronized int futureCount() {
        return futureCount;
    }

    /** Returns the futures of all requests that are outstanding. */
    synchronized List<CompletableFuture<WorkCompletion>> outstandingFutures() {
        List<CompletableFuture<WorkCompletion>> outstanding = new ArrayList<>();
        for (CompletableFuture<WorkCompletion> future : futures) {
            if (future != null) {
                outstanding.add(future);
            }
        }
        return outstanding;
    }

    private void grow() {
        int before = taken.length;
        int length = 2 * before;
        taken = Arrays.copyOf(taken, length);
        ids = Arrays.copyOf(ids, length);
        tickets = Arrays.copyOf(tickets, length);
        futures = Arrays.copyOf(futures, length);
        confirmations = Arrays.copyOf(confirmations, length);
        free = Arrays.copyOf(free, length);
        for (int place = length - 1; place >= before; place--) {
            free[freeCount++] = place;
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static @Nullable CompletableFuture<WorkCompletion>[] futures(int length) {
        return new CompletableFuture[length];
    }
}
