// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import org.jspecify.annotations.Nullable;

/** Finds the shared receive queues of a session. Called on the session's thread. */
@FunctionalInterface
public interface SharedReceiveLookup {

    /** The queue of an id, or null. On the data path: allocates nothing. */
    @Nullable
    SharedReceiveWork find(long id);
}
