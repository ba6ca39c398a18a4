// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.Failure;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionEvent;
import io.sidewarp.client.SidewarpException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Reports how a connection ended, and ends connections of this side. */
public final class ConnectionEnd {

    private static final long CLOSE_PATIENCE_SECONDS = 5;
    private static final long REASON_PATIENCE_SECONDS = 2;

    private ConnectionEnd() {}

    /** Returns the error that the sidecar reported. Empty when the peer closed the connection in order. */
    static Optional<String> error(Connection connection) {
        try {
            ConnectionEvent end = connection.closed().get(REASON_PATIENCE_SECONDS, TimeUnit.SECONDS);
            return end.error()
                    .map(error -> (error.remote() ? "the peer reported: " : "")
                            + error.name()
                            + (end.message().isEmpty() ? "" : ", ")
                            + end.message());
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SidewarpException lost) {
                throw lost;
            }
            return Optional.empty();
        } catch (TimeoutException e) {
            return Optional.of("its work was flushed");
        }
    }

    /**
     * Closes a connection when all posted work is complete, or aborts it after some seconds. Unconfirmed data is no
     * failure: the peer has confirmed important data by messages before.
     */
    public static void close(Connection connection) {
        try {
            connection.disconnectAsync().get(CLOSE_PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            abort(connection);
        } catch (TimeoutException e) {
            // Aborts now, because the end of the session would wait for this peer again.
            abort(connection);
        } catch (ExecutionException | SidewarpException e) {
            // The connection is gone.
        }
    }

    /** Aborts a connection in any state. */
    public static void abort(Connection connection) {
        try {
            connection.abort();
        } catch (SidewarpException e) {
            // The connection is gone.
        }
    }
}
