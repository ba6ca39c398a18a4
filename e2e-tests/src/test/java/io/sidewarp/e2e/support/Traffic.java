// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.CompletionHandler;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * Posts the same work request repeatedly until a request fails or the traffic is stopped. Counts the completions by
 * status.
 */
public final class Traffic implements AutoCloseable {

    private static final Duration CREDIT_LIMIT = Duration.ofSeconds(30);

    private final WorkQueue queue;
    private final WorkRequest request;
    private final Thread thread;
    private final Map<CompletionStatus, Long> ended = new EnumMap<>(CompletionStatus.class);
    private String firstMessage = "";
    private SidewarpException queueFailure;
    private long posted;
    private volatile boolean stopping;

    public Traffic(Session session, Connection connection, int depth, WorkRequest request) {
        this.request = request;
        queue = session.openQueue(depth);
        queue.onCompletion(new CompletionHandler() {
            @Override
            public void onCompletion(WorkCompletion completion) {
                completed(completion);
            }

            @Override
            public void onFailure(SidewarpException cause) {
                failed(cause);
            }
        });
        thread = Thread.ofVirtual().name("traffic").start(this::run);
    }

    private void run() {
        try {
            while (!stopping) {
                queue.post(0, request, CREDIT_LIMIT);
                synchronized (this) {
                    posted++;
                }
            }
        } catch (SidewarpException e) {
            failed(e);
        }
    }

    private synchronized void completed(WorkCompletion completion) {
        ended.merge(completion.status(), 1L, Long::sum);
        if (!completion.isSuccess()) {
            stopping = true;
            if (firstMessage.isEmpty()) {
                firstMessage = completion.message();
            }
        }
    }

    private synchronized void failed(SidewarpException cause) {
        if (queueFailure == null) {
            queueFailure = cause;
        }
        stopping = true;
    }

    /** Waits until a good number of requests have succeeded, so that the next ones are under way. */
    public Traffic awaitFlow() {
        Patience.await("work flows").until(() -> count(CompletionStatus.SUCCESS) >= 50 || stopping);
        if (stopping) {
            throw new AssertionError("the traffic ended early: " + this);
        }
        return this;
    }

    /** Waits until nothing more is posted, and then until each request that was posted has ended. */
    public void awaitEnd() {
        join();
        Patience.await("all that was posted ends").until(() -> {
            synchronized (this) {
                return queueFailure != null || total() == posted;
            }
        });
    }

    private void join() {
        try {
            if (!thread.join(Patience.LIMIT)) {
                throw new AssertionError("the traffic goes on: " + this);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    public synchronized long count(CompletionStatus status) {
        return ended.getOrDefault(status, 0L);
    }

    /** Requests that ended, in whatever way. */
    public synchronized long total() {
        return ended.values().stream().mapToLong(Long::longValue).sum();
    }

    public synchronized long posted() {
        return posted;
    }

    /** Returns the message of the first unsuccessful completion, or an empty string. */
    public synchronized String firstMessage() {
        return firstMessage;
    }

    /** Stops it and waits for what is outstanding. */
    @Override
    public void close() {
        stopping = true;
        join();
        queue.close();
    }

    @Override
    public synchronized String toString() {
        return posted + " posted, ended: " + ended + " " + firstMessage
                + (queueFailure == null ? "" : "; the queue: " + queueFailure.getMessage());
    }
}
