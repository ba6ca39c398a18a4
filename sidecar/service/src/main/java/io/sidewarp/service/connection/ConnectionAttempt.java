// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.sidewarp.v1.Connection;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A Connect or Accept call in progress. Confined to the session's thread. */
public final class ConnectionAttempt {

    private final CompletableFuture<Connection> result = new CompletableFuture<>();
    private @Nullable SessionConnection connection;
    private NameLookups.@Nullable Lookup lookup;
    private boolean cancelled;

    ConnectionAttempt() {}

    /** Returns the result, which completes on the session's thread. */
    public CompletableFuture<Connection> result() {
        return result;
    }

    /** Cancels the attempt because the caller has left. Otherwise a connection would remain that nobody uses. */
    public void cancel() {
        cancelled = true;
        if (lookup != null) {
            lookup.cancel();
        }
        if (connection != null) {
            connection.abort();
        }
    }

    boolean isCancelled() {
        return cancelled;
    }

    /** Sets the connection to abort if the caller leaves. */
    void connection(SessionConnection newConnection) {
        connection = newConnection;
    }

    /** Sets the look-up to cancel if the caller leaves. */
    void lookup(NameLookups.Lookup newLookup) {
        lookup = newLookup;
    }

    NameLookups.@Nullable Lookup lookup() {
        return lookup;
    }

    void finish(@Nullable Connection made, @Nullable Throwable failure) {
        if (made != null) {
            result.complete(made);
        } else {
            result.completeExceptionally(failure == null ? new IllegalStateException("no connection") : failure);
        }
    }
}
