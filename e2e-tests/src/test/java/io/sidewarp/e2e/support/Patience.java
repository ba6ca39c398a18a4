// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Bounds of waiting. A bound says when a test gives up, and never requires a speed. */
public final class Patience {

    /** Limit for actions that take far less on an idle machine. */
    public static final Duration LIMIT = Duration.ofMinutes(2);

    /** Limit for moving gigabytes on a busy machine. */
    public static final Duration LONG_LIMIT = Duration.ofMinutes(8);

    private Patience() {}

    public static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(LIMIT).pollInterval(Duration.ofMillis(20));
    }

    /** The value of a future; its failure is thrown as it is when it is unchecked. */
    public static <T> T get(CompletableFuture<T> future) {
        return get(future, LIMIT);
    }

    public static <T> T get(CompletableFuture<T> future, Duration limit) {
        try {
            return future.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("nothing came within " + limit, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
