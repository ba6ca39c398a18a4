// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Addresses of peers that were found to speak no TLS, for connections that only prefer it. The next connections begin
 * without TLS for a while. Bounded, thread-safe.
 */
final class PlainPeers {

    /** Time after which TLS is tried again. A peer that got TLS meanwhile is then protected. */
    static final Duration MEMORY = Duration.ofMinutes(5);

    /** Most peers that are remembered. The oldest gives way. */
    static final int MOST = 4096;

    private final LongSupplier nanoTime;
    private final Map<InetSocketAddress, Long> found = new LinkedHashMap<>();

    PlainPeers(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    synchronized void add(InetSocketAddress peer) {
        found.remove(peer);
        if (found.size() >= MOST) {
            found.remove(found.keySet().iterator().next());
        }
        found.put(peer, nanoTime.getAsLong());
    }

    /** Forgets a peer that speaks TLS now. Returns whether it was remembered. */
    synchronized boolean remove(InetSocketAddress peer) {
        return found.remove(peer) != null;
    }

    synchronized boolean contains(InetSocketAddress peer) {
        Long since = found.get(peer);
        if (since == null) {
            return false;
        }
        if (nanoTime.getAsLong() - since < MEMORY.toNanos()) {
            return true;
        }
        found.remove(peer);
        return false;
    }
}
