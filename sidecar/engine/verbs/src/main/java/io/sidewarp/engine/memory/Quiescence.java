// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.concurrent.CompletableFuture;

/** Tells when work that may still use a region has ended. The I/O layer implements this interface. */
@FunctionalInterface
public interface Quiescence {

    /**
     * Returns a future that completes when no event loop can still use a region on behalf of earlier work. Every event
     * loop has then finished the work that it was doing at the time of the call. No buffer that an event loop was
     * sending then refers to a region any more. The future fails only if this state can never be known.
     */
    CompletableFuture<Void> afterCurrentWork();
}
