// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The objects that a {@link SupervisedSession} has set up. They are valid until one of them fails; then the next state
 * follows. Thread-safe.
 */
public final class SessionState {

    private final Session session;
    private final Map<String, SharedRegion> regions;
    private final Map<String, Connection> connections;
    private final Set<String> changed;
    private final CompletableFuture<Void> ended;

    SessionState(
            Session session,
            Map<String, SharedRegion> regions,
            Map<String, Connection> connections,
            Set<String> changed,
            CompletableFuture<Void> ended) {
        this.session = session;
        this.regions = Map.copyOf(regions);
        this.connections = Map.copyOf(connections);
        this.changed = Set.copyOf(changed);
        this.ended = ended;
    }

    /** Returns the session, for other objects. Objects that are created in it are lost with the session. */
    public Session session() {
        return session;
    }

    /**
     * Returns a declared region. Its STag differs in each session. {@link SharedRegion#fileExisted()} returns whether
     * the content survived; if so, the segment of the previous state is still valid too.
     *
     * @throws IllegalArgumentException if no region with this path was declared
     */
    public SharedRegion region(String path) {
        return find(regions, "region", path);
    }

    /**
     * Returns a declared connection. Its peer may have other STags than before, and announces them again.
     *
     * @throws IllegalArgumentException if no connection has this name
     */
    public Connection connection(String name) {
        return find(connections, "connection", name);
    }

    /**
     * Returns the paths of regions and names of connections that are other objects than in the previous state. In the
     * first state, all are.
     */
    public Set<String> changed() {
        return changed;
    }

    /**
     * Returns a future that completes when an object of this state has failed, or when the supervised session is
     * closed.
     */
    public CompletableFuture<Void> ended() {
        return ended.copy();
    }

    private static <T> T find(Map<String, T> all, String kind, String name) {
        T found = all.get(name);
        if (found == null) {
            throw new IllegalArgumentException("there is no " + kind + " \"" + name + "\", but " + all.keySet());
        }
        return found;
    }
}
