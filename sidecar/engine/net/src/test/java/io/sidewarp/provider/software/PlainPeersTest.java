// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests the memory of peers without TLS. */
final class PlainPeersTest {

    private final AtomicLong now = new AtomicLong();
    private final PlainPeers peers = new PlainPeers(now::get);

    private static InetSocketAddress peer(int port) {
        return new InetSocketAddress("127.0.0.1", port);
    }

    @Test
    void aPeerIsForgottenAfterFiveMinutes() {
        peers.add(peer(1));

        now.set(PlainPeers.MEMORY.toNanos() - 1);
        assertThat(peers.contains(peer(1))).isTrue();
        assertThat(peers.contains(peer(2))).isFalse();
        now.set(PlainPeers.MEMORY.toNanos());
        assertThat(peers.contains(peer(1))).isFalse();
    }

    @Test
    void theOldestPeerGivesWayAtTheLimit() {
        for (int port = 1; port <= PlainPeers.MOST + 1; port++) {
            peers.add(peer(port));
        }

        assertThat(peers.contains(peer(1))).isFalse();
        assertThat(peers.contains(peer(2))).isTrue();
        assertThat(peers.contains(peer(PlainPeers.MOST + 1))).isTrue();
    }
}
