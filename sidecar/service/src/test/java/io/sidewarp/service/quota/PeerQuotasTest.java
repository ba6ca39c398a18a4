// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.service.testing.Waiting;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PeerQuotasTest {

    private final QuotaRefusals refusals = new QuotaRefusals();
    private final PeerQuotas peers = new PeerQuotas(2, 10, refusals);
    private InetAddress peer;
    private InetAddress other;

    @BeforeEach
    void addresses() throws UnknownHostException {
        peer = InetAddress.getByName("192.0.2.1");
        other = InetAddress.getByName("192.0.2.2");
    }

    @Test
    void aPeerHasItsOwnNumberOfConnections() {
        peers.take(peer, 1, new Grant());
        peers.take(peer, 1, new Grant());

        Status status = Waiting.status(() -> peers.take(peer, 1, new Grant()));

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("sidewarp.limits.peer-connections");
        assertThat(peers.isFull(peer)).isTrue();
        assertThat(peers.isFull(other)).isFalse();
        peers.take(other, 1, new Grant());
    }

    @Test
    void readRequestsAreCountedOverTheConnectionsOfAPeer() {
        peers.take(peer, 7, new Grant());

        Status status = Waiting.status(() -> peers.take(peer, 4, new Grant()));

        assertThat(status.getDescription()).contains("sidewarp.limits.peer-read-requests");
        peers.take(peer, 3, new Grant());
        peers.take(other, 10, new Grant());
    }

    @Test
    void nothingIsTakenWhenOneOfTheTwoIsRefused() {
        Grant refused = new Grant();
        assertThat(Waiting.status(() -> peers.take(peer, 11, refused)).getCode())
                .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        refused.close();

        assertThat(peers.count()).isZero();
        peers.take(peer, 10, new Grant());
    }

    @Test
    void whatIsGivenBackIsForgottenWithThePeer() {
        Grant first = new Grant();
        Grant second = new Grant();
        peers.take(peer, 5, first);
        peers.take(peer, 5, second);

        first.close();
        first.close();

        assertThat(peers.count()).isEqualTo(1);
        peers.take(peer, 5, first);
        first.close();
        second.close();
        assertThat(peers.count()).isZero();
    }

    @Test
    void refusalsAreCountedBySetting() {
        Waiting.status(() -> peers.take(peer, 11, new Grant()));
        Waiting.status(() -> peers.take(peer, 12, new Grant()));

        Map<String, Long> counts = new HashMap<>();
        refusals.forEach(counts::put);
        assertThat(counts)
                .isEqualTo(Map.of("sidewarp.limits.peer-connections", 0L, "sidewarp.limits.peer-read-requests", 2L));
    }
}
