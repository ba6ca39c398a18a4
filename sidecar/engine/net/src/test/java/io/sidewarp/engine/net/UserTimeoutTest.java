// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Tests how long the kernel waits for a peer that reads nothing or is silent. */
@EnabledIf("hasEpoll")
class UserTimeoutTest {

    private static final int KEEP_ALIVE_TWICE = 2_000;
    private static final int STALL_TWICE = 60_000;
    private static final int ULPDU_LENGTH = 1000;
    /** More than the peer's socket holds. */
    private static final int ULPDUS = 256;

    private static final byte[] FPDU = TcpBed.fpdu(ULPDU_LENGTH);

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(
            1, NetSettings.defaults().withKeepAlive(Duration.ofSeconds(1)).withStallTimeout(Duration.ofSeconds(30)));

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    static boolean hasEpoll() {
        return Epoll.isAvailable();
    }

    @Test
    void aPeerGetsTheTimeForThoseThatReadNothingWhileItsWindowIsShut() throws Exception {
        try (TcpBed.Connection connection = bed.connectToSend()) {
            connection.peer().setReceiveBufferSize(4096);
            awaitUserTimeout(connection, KEEP_ALIVE_TWICE);

            bed.loop().execute(() -> connection.end().send(new byte[ULPDU_LENGTH], ULPDUS));
            awaitUserTimeout(connection, STALL_TWICE);

            for (int i = 0; i < ULPDUS; i++) {
                assertThat(connection.in().readNBytes(FPDU.length)).hasSize(FPDU.length);
            }
            awaitUserTimeout(connection, KEEP_ALIVE_TWICE);
        }
    }

    private static void awaitUserTimeout(TcpBed.Connection connection, int millis) {
        EpollSocketChannel channel = (EpollSocketChannel) connection.channel();
        Awaitility.await().until(() -> channel.config().getTcpUserTimeout() == millis);
    }
}
