// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.StatusRuntimeException;
import org.jspecify.annotations.Nullable;

/** Finds the connections of a session. Called on the session's thread. */
public interface ConnectionLookup {

    /** Number of connections that have ended so far. */
    long endings();

    /** The work of a connection, or null. On the data path: allocates nothing. */
    @Nullable
    ConnectionWork find(long connection);

    /** The work of a connection; a status that says what became of it when there is none. */
    default ConnectionWork require(long connection) {
        ConnectionWork work = find(connection);
        if (work == null) {
            throw missing(connection);
        }
        return work;
    }

    /** What became of a connection that is not found. */
    StatusRuntimeException missing(long connection);
}
