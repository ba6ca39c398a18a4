// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.concurrent.CompletableFuture;

/** Knows when work that may still use a region is over. The I/O layer implements it. */
@FunctionalInterface
public interface Quiescence {

    /**
     * A future that is complete when every event loop has finished what it was doing at the time of the call, and when
     * no buffer that an event loop was sending then refers to a region any more. It fails only if that can never be
     * known.
     */
    CompletableFuture<Void> afterCurrentWork();
}
