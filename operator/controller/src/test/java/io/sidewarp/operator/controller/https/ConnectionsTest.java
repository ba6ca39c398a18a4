// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class ConnectionsTest {
    private static final int OCTETS = 100;

    private final Connections connections = new Connections(2, OCTETS, () -> {});

    @Test
    void aRequestWhoseClientHasGoneTakesItsPlaceUntilItIsAnswered() {
        EmbeddedChannel gone = new EmbeddedChannel();
        Connections.Connection answered = connections.open(gone).orElseThrow();
        Connections.Connection other = connections.open(new EmbeddedChannel()).orElseThrow();
        assertThat(answered.hold(OCTETS)).isTrue();
        answered.beginAnswer();
        other.beginAnswer();
        gone.close();

        assertThat(other.hold(1)).isFalse();
        assertThat(connections.open(new EmbeddedChannel())).isEmpty();

        answered.waitForClient();
        assertThat(other.hold(OCTETS)).isTrue();
        assertThat(connections.open(new EmbeddedChannel())).isPresent();
    }

    @Test
    void roomIsMadeByThoseThatHoldSomethingAndHaveBeenWaitedForLongest() {
        Connections three = new Connections(3, OCTETS, () -> {});
        EmbeddedChannel idle = new EmbeddedChannel();
        EmbeddedChannel unfinished = new EmbeddedChannel();
        assertThat(three.open(idle)).isPresent();
        assertThat(three.open(unfinished).orElseThrow().hold(OCTETS)).isTrue();
        Connections.Connection next = three.open(new EmbeddedChannel()).orElseThrow();

        assertThat(next.hold(OCTETS)).isTrue();
        assertThat(idle.isOpen()).isTrue();
        assertThat(unfinished.isOpen()).isFalse();
        assertThat(next.hold(OCTETS + 1)).isFalse();
    }
}
