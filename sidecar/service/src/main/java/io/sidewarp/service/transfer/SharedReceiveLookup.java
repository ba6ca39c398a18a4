// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import org.jspecify.annotations.Nullable;

/** Finds the shared receive queues of a session. Called on the session's thread. */
@FunctionalInterface
public interface SharedReceiveLookup {

    /** Returns the queue of an id, or null. Runs on the data path and allocates nothing. */
    @Nullable
    SharedReceiveWork find(long id);
}
