// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A session with regions, listeners and connections that are set up again after a failure. After the death of the
 * sidecar, all of them are set up again. After the death of a peer, the connections to it are set up again. Made by
 * {@link SidewarpClient#supervise}.
 *
 * <p>The first pause between attempts is {@link #FIRST_PAUSE}. Pauses double up to {@link #LONGEST_PAUSE}. The real
 * pause is a random part of at least half, so that many applications do not come at the same time. If everything had
 * worked for {@link #LONGEST_PAUSE}, the first attempt after a failure comes at once. Attempts end only with
 * {@link #close()}.
 *
 * <p>Regions are shared files with {@link CreateMode#OPEN_OR_CREATE}: their content survives the death of the sidecar.
 * The content does not survive an end of the session that the sidecar notices, for example when the sidecar is stopped.
 */
public final class SupervisedSession implements AutoCloseable {

    /** First pause between two attempts. */
    public static final Duration FIRST_PAUSE = Duration.ofMillis(100);

    /** Longest pause between two attempts, short compared with the 30 s for which a sidecar keeps files. */
    public static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private static final System.Logger LOG = System.getLogger(SupervisedSession.class.getName());

    private final Builder plan;
    private final SupervisionListener listener;

    /** An object that was set up, and the future that reports its end. */
    private record Live<T>(T object, CompletableFuture<?> closed) {

        boolean ended() {
            return closed.isDone();
        }
    }

    // The following fields are guarded by this, and changed only by the supervising thread.
    private final Map<String, SharedRegion> regions = new LinkedHashMap<>();
    private final List<Session> lost = new ArrayList<>();
    private final Map<Listening, Live<Listener>> listeners = new LinkedHashMap<>();
    private final Map<String, Live<Connection>> connections = new LinkedHashMap<>();
    private @Nullable Live<Session> session;

    /** Ends the states that hold only a session. */
    private CompletableFuture<Void> sessionEnd = new CompletableFuture<>();

    // The following fields are guarded by this.
    private final Set<String> changed = new HashSet<>();
    private CompletableFuture<Void> stateEnd = new CompletableFuture<>();
    private boolean closed;

    private SupervisedSession(Builder plan, SupervisionListener listener) {
        this.plan = plan;
        this.listener = listener;
    }

    private record Declared(String path, long length, RegionOptions options) {}

    private record Listening(
            String address, int port, ListenOptions options, BiConsumer<SessionState, IncomingConnection> handler) {}

    private record Peer(String name, BiFunction<Session, SessionState, Connection> connecting) {}

    /** Declares the objects of a supervised session. Not thread-safe. */
    public static final class Builder {

        private final SidewarpClient client;
        private final String name;
        private final List<Declared> regions = new ArrayList<>();
        private final List<Listening> listeners = new ArrayList<>();
        private final List<Peer> peers = new ArrayList<>();

        Builder(SidewarpClient client, String name) {
            this.client = client;
            this.name = name;
        }

        /** Declares a shared region. */
        public Builder region(String path, long length, Access... access) {
            return region(path, length, RegionOptions.of(access));
        }

        /**
         * Declares a shared region.
         *
         * @param path as in {@link Session#createSharedRegion(String, long, CreateMode, RegionOptions)}
         * @param options without protection domain and connection, which belong to a single session
         */
        public Builder region(String path, long length, RegionOptions options) {
            regions.add(new Declared(path, length, options));
            return this;
        }

        /**
         * Declares a listener. It begins to listen before connections are set up, so its handler may get a state
         * without them. Accepted connections are not supervised: the peer connects again.
         *
         * @param handler as in {@link Session#listen(String, int, java.util.function.Consumer)}
         */
        public Builder listen(String address, int port, BiConsumer<SessionState, IncomingConnection> handler) {
            return listen(address, port, ListenOptions.defaults(), handler);
        }

        public Builder listen(
                String address, int port, ListenOptions options, BiConsumer<SessionState, IncomingConnection> handler) {
            listeners.add(new Listening(address, port, options, handler));
            return this;
        }

        /** Declares a connection with default options. */
        public Builder connect(String connection, String host, int port) {
            return connect(connection, host, port, ignored -> ConnectionOptions.defaults());
        }

        /**
         * Declares a connection.
         *
         * @param connection name of the connection in {@link SessionState}
         * @param options called for each attempt; its private data can tell the peer the present STags
         */
        public Builder connect(
                String connection, String host, int port, Function<SessionState, ConnectionOptions> options) {
            peers.add(new Peer(connection, (session, state) -> session.connect(host, port, options.apply(state))));
            return this;
        }

        /**
         * Declares a connection that is created first, so that receives can be posted to it before its peer can send.
         *
         * @param connection name of the connection in {@link SessionState}
         * @param created called for each attempt; creates the connection in the state's session and posts to it
         */
        public Builder connectCreated(
                String connection, String host, int port, Function<SessionState, Connection> created) {
            peers.add(new Peer(
                    connection, (session, state) -> connectOrAbort(session, host, port, created.apply(state))));
            return this;
        }

        private static Connection connectOrAbort(Session session, String host, int port, Connection created) {
            try {
                return session.connect(host, port, created);
            } catch (RuntimeException e) {
                try {
                    created.abort();
                } catch (SidewarpException later) {
                    e.addSuppressed(later);
                }
                throw e;
            }
        }

        /**
         * Starts the supervision without waiting. {@link SupervisionListener#onReady} is called when everything is set
         * up.
         */
        public SupervisedSession start(SupervisionListener listener) {
            SupervisedSession supervised = new SupervisedSession(this, listener);
            Thread.ofVirtual().name("sidewarp-supervised-session").start(supervised::run);
            return supervised;
        }
    }

    /**
     * Ends the session and all its objects. Does not wait for a running call of the listener; operations of that call
     * on the session fail.
     */
    @Override
    public void close() {
        Live<Session> open;
        synchronized (this) {
            closed = true;
            open = session;
            session = null;
            endState();
            notifyAll();
        }
        if (open != null) {
            open.object().close();
        }
    }

    private void run() {
        int failures = 0;
        while (!isClosed()) {
            boolean lasted = false;
            Throwable failure;
            try {
                setUp();
                long begin = System.nanoTime();
                failure = work();
                lasted = System.nanoTime() - begin >= LONGEST_PAUSE.toNanos();
            } catch (RuntimeException | Error e) {
                failure = e;
            }
            failures = lasted ? 0 : failures + 1;
            if (!isClosed()) {
                addLosses(failure);
                Duration pause = pause(failures);
                tell(failure, pause);
                sleep(pause);
            }
        }
        release();
    }

    /**
     * Adds the reasons why earlier data of ended connections may not have arrived. The end of the session does not
     * repeat them.
     */
    private void addLosses(Throwable failure) {
        List<Connection> ended;
        synchronized (this) {
            ended = connections.values().stream()
                    .filter(connection -> connection.ended() || isMissing(session))
                    .map(Live::object)
                    .toList();
        }
        ended.forEach(connection -> addLoss(connection, failure));
    }

    private static void addLoss(Connection connection, Throwable failure) {
        try {
            connection.close();
        } catch (SidewarpException loss) {
            if (!loss.equals(failure)) {
                failure.addSuppressed(loss);
            }
        }
    }

    /** Lets the application work until something fails, and returns the failure. */
    private Throwable work() {
        try {
            listener.onReady(ready());
            awaitEnd();
            return cause();
        } catch (Exception | Error e) {
            abortConnections(e);
            return e;
        }
    }

    /**
     * Returns a random pause between half of the nominal pause and all of it.
     *
     * @param failures number of failures in a row
     */
    static Duration pause(int failures) {
        if (failures == 0) {
            return Duration.ZERO;
        }
        long nanos = FIRST_PAUSE.toNanos() << Math.min(failures - 1, 10);
        long longest = Math.min(nanos, LONGEST_PAUSE.toNanos());
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
    }

    /** Sets up missing objects. Existing objects stay, even if the others cannot be set up now. */
    private void setUp() {
        Session current = session();
        for (Declared region : plan.regions) {
            if (!regions.containsKey(region.path())) {
                SharedRegion created = current.createSharedRegion(
                        region.path(), region.length(), CreateMode.OPEN_OR_CREATE, region.options());
                keep(() -> regions.put(region.path(), created), region.path());
            }
        }
        // New regions now have their mappings, shared with the lost sessions where the files are the same.
        lost.forEach(SupervisedSession::closeQuietly);
        lost.clear();
        for (Listening listening : plan.listeners) {
            if (isMissing(listeners.get(listening))) {
                Listener opened = current.listen(
                        listening.address(),
                        listening.port(),
                        listening.options(),
                        incoming -> listening.handler().accept(snapshot(current), incoming));
                keep(() -> listeners.put(listening, watched(opened, opened.closed())), "");
            }
        }
        for (Peer peer : plan.peers) {
            if (isMissing(connections.get(peer.name()))) {
                Connection made = peer.connecting().apply(current, snapshot(current));
                keep(() -> connections.put(peer.name(), watched(made, made.closed())), peer.name());
            }
        }
    }

    private Session session() {
        Live<Session> known = session;
        if (known != null && !known.ended()) {
            return known.object();
        }
        Session opened = plan.client.openSession(plan.name);
        synchronized (this) {
            if (known != null) {
                lost.add(known.object());
            }
            regions.clear();
            listeners.clear();
            connections.clear();
            session = watched(opened, opened.closed());
            sessionEnd = new CompletableFuture<>();
            if (closed) {
                closeQuietly(opened);
            }
        }
        return opened;
    }

    private synchronized void keep(Runnable addition, String name) {
        addition.run();
        if (!name.isEmpty()) {
            changed.add(name);
        }
    }

    private <T> Live<T> watched(T object, CompletableFuture<?> end) {
        end.whenComplete((ignored, failure) -> wake());
        return new Live<>(object, end);
    }

    private static boolean isMissing(@Nullable Live<?> live) {
        return live == null || live.ended();
    }

    /** Returns the objects that are set up so far. */
    private synchronized SessionState snapshot(Session current) {
        return snapshot(current, sessionEnd);
    }

    private SessionState snapshot(Session current, CompletableFuture<Void> end) {
        Map<String, Connection> open = new LinkedHashMap<>();
        connections.forEach((name, connection) -> open.put(name, connection.object()));
        return new SessionState(current, regions, open, changed, end);
    }

    private synchronized SessionState ready() {
        Live<Session> current = session;
        if (current == null) {
            throw new IllegalStateException("nothing is set up");
        }
        stateEnd = new CompletableFuture<>();
        SessionState ready = snapshot(current.object(), stateEnd);
        changed.clear();
        wake();
        return ready;
    }

    private synchronized void wake() {
        if (isBroken()) {
            endState();
            notifyAll();
        }
    }

    private void endState() {
        List<CompletableFuture<Void>> ends = isMissing(session) ? List.of(stateEnd, sessionEnd) : List.of(stateEnd);
        // Runs on another thread, because dependent actions are code of the application.
        Thread.ofVirtual().start(() -> ends.forEach(end -> end.complete(null)));
    }

    private synchronized boolean isBroken() {
        return isMissing(session)
                || listeners.values().stream().anyMatch(Live::ended)
                || connections.values().stream().anyMatch(Live::ended);
    }

    private synchronized void awaitEnd() throws InterruptedException {
        while (!closed && !isBroken()) {
            wait();
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Returns the first failure of an object that was set up. */
    private synchronized Throwable cause() {
        List<Live<?>> all = new ArrayList<>();
        if (session != null) {
            all.add(session);
        }
        all.addAll(listeners.values());
        all.addAll(connections.values());
        for (Live<?> live : all) {
            if (live.closed().isCompletedExceptionally()) {
                return live.closed().exceptionNow();
            }
        }
        return new SidewarpException(io.grpc.Status.Code.UNAVAILABLE, "a connection or listener was closed");
    }

    /** Aborts the connections after a failure of the listener, because their state is then unknown. */
    private void abortConnections(Throwable failure) {
        List<Live<Connection>> all;
        synchronized (this) {
            all = List.copyOf(connections.values());
            connections.clear();
            endState();
        }
        for (Live<Connection> connection : all) {
            try {
                connection.object().abort();
            } catch (RuntimeException e) {
                // The connection is gone, or its session is.
            }
            addLoss(connection.object(), failure);
        }
    }

    private void release() {
        Live<Session> last = session;
        if (last != null) {
            closeQuietly(last.object());
        }
        lost.forEach(SupervisedSession::closeQuietly);
    }

    private static void closeQuietly(Session session) {
        try {
            session.close();
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "a session could not be closed", e);
        }
    }

    private void tell(Throwable failure, Duration pause) {
        try {
            listener.onFailure(failure, pause);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "the listener of supervised session \"" + plan.name + "\" failed", e);
        }
    }

    static void log(Throwable failure, Duration pause) {
        if (failure instanceof SidewarpException && !LOG.isLoggable(Level.DEBUG)) {
            LOG.log(Level.WARNING, "next attempt in " + pause.toMillis() + " ms: " + failure.getMessage());
        } else {
            LOG.log(Level.WARNING, "next attempt in " + pause.toMillis() + " ms", failure);
        }
    }

    private synchronized void sleep(Duration pause) {
        long end = System.nanoTime() + pause.toNanos();
        try {
            for (long left = pause.toNanos(); left > 0 && !closed; left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
        }
    }
}
