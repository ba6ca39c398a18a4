// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Connects to the address of a peer that answers first (RFC 8305 section 5). Each attempt has some time for itself
 * before the next attempt begins beside it. After a failure the next attempt begins at once. The losing connections are
 * closed before a byte is sent. Lives on the loop of the connection.
 */
public final class TcpRace {

    /** Time for which an attempt runs alone (RFC 8305 section 8). */
    private static final Duration ATTEMPT_DELAY = Duration.ofMillis(250);

    private final EngineLoops loops;
    private final EventLoop loop;
    private final Deque<InetSocketAddress> waiting;
    private final BiConsumer<InetSocketAddress, TcpTransport> onConnected;
    private final Map<InetSocketAddress, CompletableFuture<Void>> attempts = new LinkedHashMap<>();
    private final Map<InetSocketAddress, Throwable> failures = new LinkedHashMap<>();
    private final CompletableFuture<Void> result = new CompletableFuture<>();
    private final LoopTimer nextAttempt;
    private @Nullable InetSocketAddress winner;

    private TcpRace(
            EngineLoops loops,
            EventLoop loop,
            List<InetSocketAddress> remotes,
            BiConsumer<InetSocketAddress, TcpTransport> onConnected) {
        this.loops = loops;
        this.loop = loop;
        this.waiting = new ArrayDeque<>(order(remotes));
        this.onConnected = onConnected;
        this.nextAttempt = new LoopTimer(loop, this::begin);
    }
    /**
     * Connects. The caller and the operating system limit the time. Call this on the loop.
     *
     * @param loop that will own the connection
     * @param remotes resolved, the preferred one first, at least one
     * @param onConnected called on the loop with the address that answered, before any byte moves; must bind the
     *     transport
     * @return completes when {@code onConnected} has returned. Fails with the exception of {@code onConnected}, or with
     *     {@link NoneReachedException}. Cancelling it ends all attempts.
     */
    public static CompletableFuture<Void> connect(
            EngineLoops loops,
            EventLoop loop,
            List<InetSocketAddress> remotes,
            BiConsumer<InetSocketAddress, TcpTransport> onConnected) {
        TcpRace race = new TcpRace(loops, loop, remotes, onConnected);
        race.result.whenComplete((ignored, failure) -> race.end());
        race.begin();
        return race.result;
    }

    /**
     * Alternates between the address families and keeps the order within each. Begins with the first address (RFC 8305
     * section 4).
     */
    static List<InetSocketAddress> order(List<InetSocketAddress> remotes) {
        Deque<InetSocketAddress> preferred = new ArrayDeque<>();
        Deque<InetSocketAddress> other = new ArrayDeque<>();
        Class<?> first = family(remotes.getFirst());
        for (InetSocketAddress remote : new LinkedHashSet<>(remotes)) {
            (family(remote) == first ? preferred : other).add(remote);
        }
        List<InetSocketAddress> ordered = new ArrayList<>();
        while (!preferred.isEmpty() || !other.isEmpty()) {
            if (!preferred.isEmpty()) {
                ordered.add(preferred.remove());
            }
            if (!other.isEmpty()) {
                ordered.add(other.remove());
            }
        }
        return ordered;
    }

    private static Class<?> family(InetSocketAddress remote) {
        return remote.isUnresolved() ? String.class : remote.getAddress().getClass();
    }

    private void begin() {
        nextAttempt.stop();
        InetSocketAddress remote = waiting.poll();
        if (remote == null) {
            return;
        }
        CompletableFuture<Void> attempt =
                TcpConnector.connect(loops, loop, remote, transport -> onAnswer(remote, transport));
        attempts.put(remote, attempt);
        if (!waiting.isEmpty()) {
            nextAttempt.start(ATTEMPT_DELAY);
        }
        attempt.whenComplete((ignored, failure) -> {
            attempts.remove(remote);
            if (failure == null) {
                result.complete(null);
            } else if (remote.equals(winner)) {
                result.completeExceptionally(failure);
            } else if (!result.isDone() && winner == null) {
                onFailed(remote, failure);
            }
        });
    }

    private void onAnswer(InetSocketAddress remote, TcpTransport transport) {
        winner = remote;
        attempts.remove(remote);
        end();
        onConnected.accept(remote, transport);
    }

    private void onFailed(InetSocketAddress remote, Throwable failure) {
        failures.put(remote, failure);
        if (!waiting.isEmpty()) {
            begin();
        } else if (attempts.isEmpty()) {
            result.completeExceptionally(new NoneReachedException(failures));
        }
    }

    /** Ends the race: no further attempt begins, and all attempts except the winner are closed. */
    private void end() {
        waiting.clear();
        nextAttempt.stop();
        for (CompletableFuture<Void> attempt : List.copyOf(attempts.values())) {
            attempt.cancel(false);
        }
    }

    /** Thrown when no address was reached. */
    public static final class NoneReachedException extends Exception {

        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial") // a LinkedHashMap, which is serializable
        private final Map<InetSocketAddress, Throwable> failures;

        NoneReachedException(Map<InetSocketAddress, Throwable> failures) {
            super(
                    "no address was reached: " + failures,
                    failures.values().iterator().next());
            this.failures = new LinkedHashMap<>(failures);
        }

        /** Returns the operating system's error for each address, in the order of the failures. */
        public Map<InetSocketAddress, Throwable> failures() {
            return failures;
        }
    }
}
