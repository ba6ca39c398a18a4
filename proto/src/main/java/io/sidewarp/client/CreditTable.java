// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The work requests outstanding on a queue. Each holds a place, whose number is the id that it is sent with; there are
 * as many places as the sidecar granted credits, so that a free place is a credit. Not thread-safe.
 *
 * <p>An unsignaled request that succeeds is never reported. Its place becomes free when a later request of the same
 * connection's send queue completes, because send work completes in order: the sidecar gave the credit back by then. A
 * receive that completes says nothing about it. Places of unsignaled requests are chained in the order of posting.
 *
 * <p>A connection that closed has no later request. All of its completions are on their way when its end is told, so they
 * come before the completion of any request, of any connection, that is posted after that.
 */
final class CreditTable {

    private static final int NONE = -1;

    private final long[] ids;
    private final long[] connections;
    private final long[] sequences;
    private final State[] states;
    private final @Nullable CompletableFuture<WorkCompletion>[] futures;
    private final @Nullable Confirmation[] answered;
    private final long[] tickets;

    /** Chain of unsignaled places, oldest first. */
    private final int[] next;

    private int oldest = NONE;
    private int newest = NONE;
    private int unsignaled;
    private int receives;

    /** Connections that closed with unsignaled requests, in the order of their ends. */
    private final ArrayDeque<Closed> closed = new ArrayDeque<>();

    private final int[] free;
    private int freeCount;
    private long sequence;

    private enum State {
        FREE,
        RECEIVE,
        SIGNALED,
        /** Posted unsignaled, but sent signaled; its success is not told. */
        SILENCED,
        UNSIGNALED
    }

    /** @param sequence of the first request that is posted after the end was told */
    private record Closed(long connection, long sequence) {}

    @SuppressWarnings({"unchecked", "rawtypes"})
    CreditTable(int credits) {
        ids = new long[credits];
        connections = new long[credits];
        sequences = new long[credits];
        states = new State[credits];
        Arrays.fill(states, State.FREE);
        futures = new CompletableFuture[credits];
        answered = new Confirmation[credits];
        tickets = new long[credits];
        next = new int[credits];
        free = new int[credits];
        for (int i = 0; i < credits; i++) {
            free[i] = credits - 1 - i;
        }
        freeCount = credits;
    }

    int credits() {
        return ids.length;
    }

    int available() {
        return freeCount;
    }

    /**
     * Places that receives may take. When all send work that is outstanding is unsignaled, the last one is left to work whose
     * completion makes the others free: receives may complete only after what the peer is to be sent next.
     */
    int availableToReceives() {
        return unsignaled > 0 && awaited() == receives ? freeCount - 1 : freeCount;
    }

    /** Requests whose end will still be told. */
    int awaited() {
        return ids.length - freeCount - unsignaled;
    }

    /**
     * Gives a place to a request; one must be available.
     *
     * @param id the caller's
     */
    int take(WorkRequest request, long id, @Nullable CompletableFuture<WorkCompletion> future) {
        int place = free[--freeCount];
        ids[place] = id;
        futures[place] = future;
        connections[place] = request.connection();
        sequences[place] = sequence++;
        if (request.isReceive()) {
            states[place] = State.RECEIVE;
            receives++;
        } else if (!request.isUnsignaled()) {
            states[place] = State.SIGNALED;
        } else if (freeCount <= 1 || unsignaled >= ids.length / 2) {
            // Else unsignaled requests could hold all places, or all that receives leave, and no completion would ever
            // make one free. The last but one too, so that a receive can be posted behind it.
            states[place] = State.SILENCED;
        } else {
            states[place] = State.UNSIGNALED;
            chain(place);
        }
        confirm(request, place);
        return place;
    }

    private void confirm(WorkRequest request, int place) {
        Confirmation confirmation = request.confirmation();
        if (confirmation != null) {
            // An unsignaled request tells of no answer.
            boolean answer = request.isAnswered() && isSignaled(place);
            tickets[place] = confirmation.posted(request.isData());
            answered[place] = answer ? confirmation : null;
        }
    }

    boolean isSignaled(int place) {
        return states[place] != State.UNSIGNALED;
    }

    /** True when a request has this place. */
    boolean isTaken(long place) {
        return place >= 0 && place < ids.length && states[(int) place] != State.FREE;
    }

    /** The caller's id of the request at a place that is taken. */
    long id(int place) {
        return ids[place];
    }

    @Nullable
    CompletableFuture<WorkCompletion> future(int place) {
        return futures[place];
    }

    /** True when the caller wants to hear of success. */
    boolean tellsSuccess(int place) {
        return states[place] != State.SILENCED;
    }

    /** Frees the place of a request that completed, and those of the unsignaled requests that are complete with it. */
    void complete(int place, CompletionStatus status) {
        State state = states[place];
        if (state == State.UNSIGNALED) {
            unchain(place);
        } else if (state == State.RECEIVE) {
            receives--;
        }
        Confirmation confirmation = answered[place];
        if (confirmation != null && status == CompletionStatus.SUCCESS) {
            confirmation.answered(tickets[place]);
        }
        // A refused request completes ahead of its turn, so it says nothing about those before it.
        boolean inTurn = status != CompletionStatus.INVALID_REQUEST
                && status != CompletionStatus.LOCAL_PROTECTION_ERROR
                && state != State.RECEIVE;
        if (inTurn && unsignaled > 0) {
            freeUnsignaled(connections[place], sequences[place]);
        }
        while (!closed.isEmpty() && closed.getFirst().sequence() <= sequences[place]) {
            Closed ended = closed.remove();
            freeUnsignaled(ended.connection(), ended.sequence());
        }
        free(place);
    }

    /** The sidecar told that a connection is closed. */
    void close(long connection) {
        for (int place = oldest; place != NONE; place = next[place]) {
            if (connections[place] == connection) {
                closed.add(new Closed(connection, sequence));
                return;
            }
        }
    }

    /** Tells the connection of each request whose end was not told. */
    void forEachOutstanding(LongConsumer connection) {
        for (int place = 0; place < states.length; place++) {
            if (states[place] != State.FREE) {
                connection.accept(connections[place]);
            }
        }
    }

    /** Futures of all requests that are outstanding. */
    List<CompletableFuture<WorkCompletion>> outstandingFutures() {
        List<CompletableFuture<WorkCompletion>> outstanding = new ArrayList<>();
        for (CompletableFuture<WorkCompletion> future : futures) {
            if (future != null) {
                outstanding.add(future);
            }
        }
        return outstanding;
    }

    private void freeUnsignaled(long connection, long before) {
        int previous = NONE;
        int current = oldest;
        while (current != NONE && sequences[current] < before) {
            int following = next[current];
            if (connections[current] == connection) {
                unlink(previous, current);
                free(current);
            } else {
                previous = current;
            }
            current = following;
        }
    }

    private void chain(int place) {
        next[place] = NONE;
        if (newest == NONE) {
            oldest = place;
        } else {
            next[newest] = place;
        }
        newest = place;
        unsignaled++;
    }

    private void unchain(int place) {
        int previous = NONE;
        int current = oldest;
        while (current != place) {
            previous = current;
            current = next[current];
        }
        unlink(previous, place);
    }

    private void unlink(int previous, int place) {
        if (previous == NONE) {
            oldest = next[place];
        } else {
            next[previous] = next[place];
        }
        if (newest == place) {
            newest = previous;
        }
        unsignaled--;
    }

    private void free(int place) {
        states[place] = State.FREE;
        futures[place] = null;
        answered[place] = null;
        free[freeCount++] = place;
    }
}
