// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class ReviewConnectionsTest {
    private static final int OCTETS = 100;

    private final ReviewConnections connections = new ReviewConnections(2, OCTETS, () -> {});

    @Test
    void aReviewWhoseClientHasGoneTakesItsPlaceUntilItIsDecidedAbout() {
        EmbeddedChannel gone = new EmbeddedChannel();
        ReviewConnections.Connection decided = connections.open(gone).orElseThrow();
        ReviewConnections.Connection other =
                connections.open(new EmbeddedChannel()).orElseThrow();
        assertThat(decided.hold(OCTETS)).isTrue();
        decided.decide();
        other.decide();
        gone.close();

        assertThat(other.hold(1)).isFalse();
        assertThat(connections.open(new EmbeddedChannel())).isEmpty();

        decided.waitForClient();
        assertThat(other.hold(OCTETS)).isTrue();
        assertThat(connections.open(new EmbeddedChannel())).isPresent();
    }

    @Test
    void roomIsMadeByThoseThatHoldSomethingAndHaveBeenWaitedForLongest() {
        ReviewConnections three = new ReviewConnections(3, OCTETS, () -> {});
        EmbeddedChannel idle = new EmbeddedChannel();
        EmbeddedChannel unfinished = new EmbeddedChannel();
        assertThat(three.open(idle)).isPresent();
        assertThat(three.open(unfinished).orElseThrow().hold(OCTETS)).isTrue();
        ReviewConnections.Connection next = three.open(new EmbeddedChannel()).orElseThrow();

        assertThat(next.hold(OCTETS)).isTrue();
        assertThat(idle.isOpen()).isTrue();
        assertThat(unfinished.isOpen()).isFalse();
        assertThat(next.hold(OCTETS + 1)).isFalse();
    }
}
