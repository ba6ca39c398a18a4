// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Bounds the memory that it takes to decide about reviews, all of them together. The octets do not tell: a list of empty
 * objects, which somebody who may create pods can have the API server send, or anybody who reaches the port can send, becomes a
 * hundred times as large. The program ends when its memory does.
 */
final class ReviewBudget {
    /** Of one review, and of all that are decided about at a time. That of a pod has some hundreds, or a few thousand. */
    static final int MAX_TOKENS = 50_000;

    /** Long strings take memory, too: the longest review takes all. */
    private static final int OCTETS_PER_TOKEN = WebhookServer.MAX_REVIEW_OCTETS / MAX_TOKENS;

    /** Of the shortest review, since the answer may be much longer: a few are decided about at a time. */
    private static final int LEAST_COST = MAX_TOKENS / 8;

    private static final JsonFactory JSON = new JsonFactory();

    private final Semaphore tokens = new Semaphore(MAX_TOKENS, true);

    /**
     * Has a review decided about as soon as those before it leave room.
     *
     * @throws IllegalArgumentException if it is no JSON, or too much of it
     */
    <T> T spend(byte[] review, Supplier<T> decision) throws InterruptedException {
        int cost = Math.max(tokensOf(review), Math.clamp(review.length / OCTETS_PER_TOKEN, LEAST_COST, MAX_TOKENS));
        tokens.acquire(cost);
        try {
            return decision.get();
        } finally {
            tokens.release(cost);
        }
    }

    private static int tokensOf(byte[] review) {
        int tokens = 0;
        try (JsonParser parser = JSON.createParser(review)) {
            while (parser.nextToken() != null) {
                tokens++;
                if (tokens > MAX_TOKENS) {
                    throw new IllegalArgumentException("the review has more than " + MAX_TOKENS
                            + " names, values and brackets; no pod needs that many");
                }
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("the review is no JSON: " + e.getMessage(), e);
        }
        return tokens;
    }
}
