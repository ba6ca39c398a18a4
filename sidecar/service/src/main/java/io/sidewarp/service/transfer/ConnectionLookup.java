// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.StatusRuntimeException;
import org.jspecify.annotations.Nullable;

/** Finds the connections of a session. Called on the session's thread. */
public interface ConnectionLookup {

    /** Returns the number of connections that have ended so far. */
    long endings();

    /** Returns the work of a connection, or null. Runs on the data path and allocates nothing. */
    @Nullable
    ConnectionWork find(long connection);

    /** Returns the work of a connection. Fails with the status of {@link #missing} if there is none. */
    default ConnectionWork require(long connection) {
        ConnectionWork work = find(connection);
        if (work == null) {
            throw missing(connection);
        }
        return work;
    }

    /** Returns a status that describes the end of a missing connection. */
    StatusRuntimeException missing(long connection);
}
