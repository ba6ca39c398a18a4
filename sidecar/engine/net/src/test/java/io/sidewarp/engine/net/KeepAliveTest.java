// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Tests peers that vanish silently. The kernel detects them if keep-alive is set. */
@EnabledIf("hasEpoll")
class KeepAliveTest {

    static boolean hasEpoll() {
        return Epoll.isAvailable();
    }

    @Test
    void aSilentPeerIsProbedAndHasAsMuchTimeToConnectAsOthers() {
        EpollSocketChannel channel = new EpollSocketChannel();
        try {
            SocketOptions.keepAlive(channel, Duration.ofSeconds(30));

            assertThat(channel.config().isKeepAlive()).isTrue();
            assertThat(channel.config().getTcpKeepIdle()).isEqualTo(30);
            assertThat(channel.config().getTcpKeepIntvl() * channel.config().getTcpKeepCnt())
                    .isEqualTo(30);
            assertThat(channel.config().getTcpUserTimeout()).isZero();
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void zeroSwitchesItOff() {
        EpollSocketChannel channel = new EpollSocketChannel();
        try {
            SocketOptions.keepAlive(channel, Duration.ZERO);

            assertThat(channel.config().isKeepAlive()).isFalse();
        } finally {
            channel.unsafe().closeForcibly();
        }
    }
}
