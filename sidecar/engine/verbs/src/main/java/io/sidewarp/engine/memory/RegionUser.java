// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * A stream, or a shared receive queue, that uses regions. Regions can be restricted to the domain, the stream and the
 * peer of their users (RFC 5040 section 8.1.1 items 2 and 3).
 *
 * @param queuePair number of the stream's queue pair; 0 for a shared receive queue
 * @param peer identity of the stream's peer, which TLS has verified; empty without TLS, and before the set-up
 */
public record RegionUser(Pd protectionDomain, long queuePair, String peer) {

    /** Creates a user without a verified peer. */
    public RegionUser(Pd protectionDomain, long queuePair) {
        this(protectionDomain, queuePair, "");
    }

    /** Returns whether the region is not restricted to other users. Allocates nothing. */
    public boolean mayUse(MemoryRegion region) {
        return region.protectionDomain() == protectionDomain
                && (region.queuePair() == 0 || region.queuePair() == queuePair)
                && (region.peer().isEmpty() || region.peer().equals(peer));
    }
}
