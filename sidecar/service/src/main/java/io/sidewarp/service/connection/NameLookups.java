// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.quota.Grant;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Looks up the names of one session's peers. A look-up of the system blocks its thread until the DNS answers, and
 * cannot be cancelled. Each session therefore has a few look-ups at a time, and further ones wait. No session waits for
 * the look-ups of another. Confined to the session's thread.
 */
final class NameLookups {

    private static final Duration LEAST_TIME = Duration.ofMillis(1);

    private final SessionContext context;
    private final ArrayDeque<Lookup> waiting = new ArrayDeque<>();
    private final Set<Lookup> open = new HashSet<>();
    private int running;
    private final CompletableFuture<Void> settled = new CompletableFuture<>();
    private boolean released;

    NameLookups(SessionContext context) {
        this.context = context;
    }

    /**
     * Begins a look-up.
     *
     * @param connections number of connections that the look-up counts as until it ends: 1 if it will create one, 0 if
     *     the connection exists
     */
    Lookup begin(String name, Duration timeout, int connections) {
        Lookup lookup = Grant.holding(grant -> {
            grant.take(context.quotas().connections(), connections);
            return new Lookup(name, timeout, grant);
        });
        open.add(lookup);
        waiting.add(lookup);
        run();
        return lookup;
    }

    /** Ends all look-ups and starts no more. */
    void release() {
        for (Lookup lookup : List.copyOf(open)) {
            lookup.end(null, new ConnectionFailedException(Kind.ABORTED, "the session ended"));
        }
        released = true;
        settle();
    }

    /**
     * Returns a future that completes after {@link #release}, when no look-up has a thread any more. This can take as
     * long as the DNS takes to answer.
     */
    CompletableFuture<Void> settled() {
        return settled;
    }

    private void settle() {
        if (released && running == 0) {
            settled.complete(null);
        }
    }

    private void run() {
        while (running < context.config().limits().lookups()) {
            Lookup next = waiting.poll();
            if (next == null) {
                return;
            }
            CompletableFuture<List<InetAddress>> looking;
            try {
                looking = CompletableFuture.supplyAsync(() -> addresses(next.name), context.lookups());
            } catch (RuntimeException | Error e) {
                // No more threads may be available.
                next.end(null, e);
                continue;
            }
            running++;
            looking.whenCompleteAsync(
                    (addresses, failure) -> {
                        running--;
                        next.end(addresses, failure);
                        run();
                        settle();
                    },
                    context.loop());
        }
    }

    private static List<InetAddress> addresses(String name) {
        try {
            return List.of(InetAddress.getAllByName(name));
        } catch (UnknownHostException e) {
            throw new CompletionException(new ConnectionFailedException(
                    Kind.UNREACHABLE, "the name \"" + name + "\" is not known; check its spelling and the pod's DNS"));
        }
    }

    /** One look-up. */
    final class Lookup {

        private final String name;
        private final CompletableFuture<List<InetAddress>> result = new CompletableFuture<>();
        private final Duration timeout;
        private final Grant grant;
        private final long begin = System.nanoTime();
        private final Future<?> timer;

        private Lookup(String name, Duration timeout, Grant grant) {
            this.name = name;
            this.timeout = timeout;
            this.grant = grant;
            this.timer = context.loop().schedule(this::late, timeout.toNanos(), TimeUnit.NANOSECONDS);
        }

        /**
         * Returns at least one address, on the session's thread, or a {@link ConnectionFailedException}. Unreachable:
         * the name does not exist. Time-out: the DNS did not answer in time.
         */
        CompletableFuture<List<InetAddress>> result() {
            return result;
        }

        /** Returns the time that is left, at least 1 ms. */
        Duration timeLeft() {
            Duration left = timeout.minusNanos(System.nanoTime() - begin);
            return left.compareTo(LEAST_TIME) < 0 ? LEAST_TIME : left;
        }

        /** Ends the look-up because the caller no longer needs it. */
        void cancel() {
            end(null, new ConnectionFailedException(Kind.ABORTED, "the call was cancelled"));
        }

        private void late() {
            end(
                    null,
                    new ConnectionFailedException(
                            Kind.TIMEOUT,
                            "the DNS did not return the address of \"" + name + "\" within " + timeout.toMillis()
                                    + " ms; check the pod's DNS, or give more time (options.timeout,"
                                    + " sidewarp.connection.timeout)"));
        }

        private void end(@Nullable List<InetAddress> addresses, @Nullable Throwable failure) {
            if (!open.remove(this)) {
                return;
            }
            waiting.remove(this);
            timer.cancel(false);
            grant.close();
            if (addresses != null) {
                result.complete(addresses);
            } else {
                result.completeExceptionally(failure == null ? new IllegalStateException("no address") : failure);
            }
        }
    }
}
