// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.QueueOpened;
import io.sidewarp.v1.QueueResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the completions of a queue and sorts them: to futures, to the handler, or to the backlog that poll reads.
 * Responses are read under the queue's lock and handed out without it. Not thread-safe without that lock.
 */
final class CompletionRouter {

    /**
     * Maximum number of credits, more than any sidecar grants. It prevents unbounded allocation if a sidecar is broken.
     */
    private static final int MAX_CREDITS = 1 << 20;

    private final IntConsumer opened;
    private final TrafficCache traffic;

    // Guarded by the queue's lock.

    private CreditTable table = new CreditTable(0);
    /** Completions that wait for poll; each holds its credit. */
    private final ArrayDeque<WorkCompletion> backlog = new ArrayDeque<>();

    // Used on the event loop only.

    private final List<WorkCompletion> ready = new ArrayList<>();
    private final List<@Nullable CompletableFuture<WorkCompletion>> futures = new ArrayList<>();
    private @Nullable CompletionHandler handler;

    /**
     * Makes a router without credits.
     *
     * @param opened takes the credits that the sidecar granted, under the queue's lock
     * @param traffic counts posted requests and delivered completions
     */
    CompletionRouter(IntConsumer opened, SessionTraffic traffic) {
        this.traffic = new TrafficCache(traffic);
        this.opened = opened;
    }

    CreditTable table() {
        return table;
    }

    /**
     * Returns the number of free credits. Completions that wait for poll keep their credits, so the backlog is bounded.
     */
    int available() {
        return table.available() - backlog.size();
    }

    /** Returns whether a credit is free that the request may take. */
    boolean hasCreditFor(WorkRequest request) {
        return (request.isReceive() ? table.availableToReceives() : table.available()) > backlog.size();
    }

    boolean hasBacklog() {
        return !backlog.isEmpty();
    }

    /** Removes the oldest completion of the backlog, which must not be empty. */
    WorkCompletion takeFromBacklog() {
        return backlog.remove();
    }

    @Nullable
    CompletionHandler handler() {
        return handler;
    }

    /**
     * Sets the handler.
     *
     * @return completions that came before the handler
     */
    List<WorkCompletion> setHandler(CompletionHandler newHandler) {
        List<WorkCompletion> earlier = List.copyOf(backlog);
        backlog.clear();
        handler = newHandler;
        return earlier;
    }

    /** Reads the completions of a response, in order. */
    void read(QueueResponse response) {
        if (response.hasOpened()) {
            opened(response.getOpened());
        }
        response.getCompletions().getCompletionsList().forEach(completion -> {
            long id = callersId(completion.getId());
            completed(completion.getId(), Protos.completion(completion, id));
        });
    }

    private void opened(QueueOpened response) {
        int credits = Math.clamp(Integer.toUnsignedLong(response.getCredits()), 0, MAX_CREDITS);
        if (table.credits() == 0) {
            table = new CreditTable(credits);
            opened.accept(credits);
        }
    }

    /** Returns the caller's id for a completion. */
    private long callersId(long sentId) {
        if (!table.isTaken(sentId)) {
            throw new SidewarpException(
                    Status.Code.INTERNAL, "the sidecar completed a work request that is not outstanding: " + sentId);
        }
        return table.id((int) sentId);
    }

    private void completed(long sentId, WorkCompletion completion) {
        int place = (int) sentId;
        CompletableFuture<WorkCompletion> future = table.future(place);
        boolean told = table.tellsSuccess(place) || !completion.isSuccess();
        table.complete(place, completion.status());
        if (future != null || (told && handler != null)) {
            ready.add(completion);
            futures.add(future);
        } else if (told) {
            backlog.add(completion);
        } else {
            delivered(completion);
        }
    }

    /** Counts a request that was posted to a connection; 0 for a shared receive queue. */
    void posted(long connection) {
        if (connection != 0) {
            traffic.of(connection).posted();
        }
    }

    /** Takes back the outstanding posts at the end of the queue, because they may not have reached the sidecar. */
    void losePosts() {
        table.forEachOutstanding(connection -> {
            if (connection != 0) {
                traffic.of(connection).lost();
            }
        });
    }

    /**
     * Counts a completion that the application has, so that later events of its connection may follow. Completions of
     * unused receives have no connection.
     */
    void delivered(WorkCompletion completion) {
        if (completion.connection() != 0) {
            traffic.of(completion.connection()).delivered();
        }
    }

    /** Hands out the completions that were read, in order and without the lock. */
    void handOut(Consumer<WorkCompletion> toHandler) {
        for (int i = 0; i < ready.size(); i++) {
            CompletableFuture<WorkCompletion> future = futures.get(i);
            if (future != null) {
                future.complete(ready.get(i));
            } else {
                toHandler.accept(ready.get(i));
            }
            delivered(ready.get(i));
        }
        ready.clear();
        futures.clear();
    }
}
