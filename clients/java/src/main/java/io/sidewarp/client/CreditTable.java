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
 * The work requests outstanding on a queue. Each request holds a place, and is sent with the number of the place as its
 * id. There are as many places as the sidecar granted credits, so a free place is a credit. Not thread-safe.
 *
 * <p>An unsignaled request that succeeds is never reported. Its place becomes free when a later request of the same
 * connection's send queue completes. Send work completes in order, so the sidecar has returned the credit by then. A
 * receive that completes gives no such information. Places of unsignaled requests are chained in the order of posting.
 *
 * <p>A closed connection has no later request. All its completions are already on their way when its end is reported.
 * They come before the completion of every request that is posted later, on any connection.
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
        /** Posted unsignaled, but sent signaled. Its success is not reported to the caller. */
        SILENCED,
        UNSIGNALED
    }

    /**
     * A connection that closed with unsignaled requests.
     *
     * @param sequence sequence of the first request that is posted after the end was reported
     */
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
     * Returns the places that receives may take. If all outstanding send work is unsignaled, the last place stays free
     * for work whose completion frees the others. Receives might complete only after a message that is still to be sent
     * to the peer.
     */
    int availableToReceives() {
        return unsignaled > 0 && awaited() == receives ? freeCount - 1 : freeCount;
    }

    /** Returns the number of requests whose end will still be reported. */
    int awaited() {
        return ids.length - freeCount - unsignaled;
    }

    /**
     * Gives a place to a request; one must be free.
     *
     * @param id the caller's id
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
            // Otherwise unsignaled requests could hold all places, or all places for receives, and no completion would
            // ever free one. This also applies to the last place but one, so that a receive can be posted afterwards.
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
            // An unsignaled request reports no answer.
            boolean answer = request.isAnswered() && isSignaled(place);
            tickets[place] = confirmation.posted(request.isData());
            answered[place] = answer ? confirmation : null;
        }
    }

    boolean isSignaled(int place) {
        return states[place] != State.UNSIGNALED;
    }

    /** Returns whether a request has this place. */
    boolean isTaken(long place) {
        return place >= 0 && place < ids.length && states[(int) place] != State.FREE;
    }

    /** Returns the caller's id of the request at a place that is taken. */
    long id(int place) {
        return ids[place];
    }

    @Nullable
    CompletableFuture<WorkCompletion> future(int place) {
        return futures[place];
    }

    /** Returns whether a success is reported to the caller. */
    boolean tellsSuccess(int place) {
        return states[place] != State.SILENCED;
    }

    /** Frees the place of a completed request, and the places of unsignaled requests that are complete with it. */
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
        // A refused request completes ahead of its turn, so it says nothing about earlier requests.
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

    /** Records that a connection is closed, as the sidecar reported. */
    void close(long connection) {
        for (int place = oldest; place != NONE; place = next[place]) {
            if (connections[place] == connection) {
                closed.add(new Closed(connection, sequence));
                return;
            }
        }
    }

    /** Passes on the connection of each request whose end was not reported. */
    void forEachOutstanding(LongConsumer connection) {
        for (int place = 0; place < states.length; place++) {
            if (states[place] != State.FREE) {
                connection.accept(connections[place]);
            }
        }
    }

    /** Returns the futures of all outstanding requests. */
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
