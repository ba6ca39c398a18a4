// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Limits the memory for all reviews that are decided at the same time. The number of bytes alone is no measure: a
 * parsed list of empty objects takes a hundred times as much memory. Anybody who may create pods, or reaches the port,
 * can cause such a review. The program ends when its memory is exhausted.
 */
final class ReviewBudget {
    /**
     * Largest number of tokens of one review, and of all reviews that are decided at the same time. The review of a pod
     * has some hundreds of tokens, or a few thousand.
     */
    static final int MAX_TOKENS = 50_000;

    /**
     * Bytes that count as one token, because long strings take memory too. The longest review takes the whole budget.
     */
    private static final int OCTETS_PER_TOKEN = WebhookServer.MAX_REVIEW_OCTETS / MAX_TOKENS;

    /**
     * Minimum cost of a review, because its answer may be much longer. So only a few reviews are decided at the same
     * time.
     */
    private static final int LEAST_COST = MAX_TOKENS / 8;

    private static final JsonFactory JSON = new JsonFactory();

    private final Semaphore tokens = new Semaphore(MAX_TOKENS, true);

    /**
     * Decides about a review as soon as earlier reviews leave room.
     *
     * @throws IllegalArgumentException if the review is no JSON or has too many tokens
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
