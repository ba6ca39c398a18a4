// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import org.jspecify.annotations.Nullable;

/** Finds the connections of a session. Called on the session's thread. */
public interface ConnectionLookup {

    /** The work of a connection, or null. On the data path: allocates nothing. */
    @Nullable
    ConnectionWork find(long connection);

    /** The work of a connection; a status that says what became of it when there is none. */
    ConnectionWork require(long connection);
}
