// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Objects that a {@link SupervisedSession} has set up. They are valid until one of them fails; then the next state follows.
 * Thread-safe.
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

    /** The session, for whatever else is needed. What is created in it is gone when the session is lost. */
    public Session session() {
        return session;
    }

    /**
     * A region that was declared. It has another STag in each session. {@link SharedRegion#fileExisted()} tells whether the
     * content survived; if so, the segment of the state before is still valid too.
     *
     * @throws IllegalArgumentException when there is none of this path
     */
    public SharedRegion region(String path) {
        return find(regions, "region", path);
    }

    /**
     * A connection that was declared. Its peer may have other STags than before: it tells them anew.
     *
     * @throws IllegalArgumentException when there is none of this name
     */
    public Connection connection(String name) {
        return find(connections, "connection", name);
    }

    /** Paths of regions and names of connections that are other objects than in the state before. In the first: all. */
    public Set<String> changed() {
        return changed;
    }

    /** Completes when something of this state has failed, and when the supervised session is closed. */
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
