// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Completions that were taken from a ring and are handed out one by one. Used by one thread at a time. */
final class CompletionBatch {

    static final int CAPACITY = 32;

    private final CompletionView[] views = new CompletionView[CAPACITY];
    private final boolean[] posted = new boolean[CAPACITY];
    private final @Nullable CompletableFuture<WorkCompletion>[] futures = futures();
    private int size;
    private int next;

    /** Number of completions of signaled requests. */
    private int signaled;

    CompletionBatch() {
        Arrays.setAll(views, i -> new CompletionView());
    }

    void clear() {
        size = 0;
        next = 0;
        signaled = 0;
    }

    int size() {
        return size;
    }

    /** Returns the view for the next completion, which {@link #added} or {@link #addedMarker} then adds. */
    CompletionView toAdd() {
        return views[size];
    }

    /**
     * Adds a completion.
     *
     * @param future future of a submitted request; null for a posted request
     */
    void added(@Nullable CompletableFuture<WorkCompletion> future) {
        posted[size] = future == null;
        futures[size++] = future;
    }

    /** Adds the completion of a request that the queue posted itself. */
    void addedMarker() {
        posted[size] = false;
        futures[size++] = null;
    }

    void countSignaled() {
        signaled++;
    }

    int signaled() {
        return signaled;
    }

    boolean hasNext() {
        return next < size;
    }

    /** Moves to the next completion, and returns it. */
    CompletionView next() {
        return views[next++];
    }

    /** Returns the future of the completion that {@link #next} returned, or null. */
    @Nullable
    CompletableFuture<WorkCompletion> takeFuture() {
        CompletableFuture<WorkCompletion> future = futures[next - 1];
        futures[next - 1] = null;
        return future;
    }

    /** Returns whether the completion that {@link #next} returned goes to the application. */
    boolean isPosted() {
        return posted[next - 1];
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static @Nullable CompletableFuture<WorkCompletion>[] futures() {
        return new CompletableFuture[CAPACITY];
    }
}
