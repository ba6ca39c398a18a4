// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests connections of a loop that never sleeps. Such a loop reads from the last active connection without asking
 * epoll.
 */
class PolledConnectionTest {

    private static final int ROUNDS = 200;
    private static final int ULPDU_LENGTH = 18;
    private static final byte[] FPDU = TcpBed.fpdu(ULPDU_LENGTH);

    private static final int LONG_ULPDU_LENGTH = 1010;
    private static final byte[] LONG_FPDU = TcpBed.fpdu(LONG_ULPDU_LENGTH);

    private final EventLoopGroup group = EngineLoops.newGroup(1, Duration.ofMinutes(1));
    private final EngineLoops loops = EngineLoops.shared(group, NetSettings.defaults());

    private final TcpBed bed = new TcpBed(loops);

    @AfterEach
    void close() {
        bed.close();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Messages one at a time, each answered. */
    private void exchange(TcpBed.Connection connection, int rounds) throws Exception {
        for (int i = 0; i < rounds; i++) {
            connection.send(FPDU);
            assertThat(connection.end().nextUlpdu()).hasSize(ULPDU_LENGTH);
            connection.end().sendFrom(bed.loop(), new byte[ULPDU_LENGTH]);
            assertThat(connection.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
        }
    }

    @Test
    void connectionsGetTheirTurnBesideTheOneThatIsReadAlone() throws Exception {
        try (TcpBed.Connection one = bed.connect();
                TcpBed.Connection other = bed.connect()) {
            exchange(one, ROUNDS);
            exchange(other, 1);
            exchange(one, 1);
            exchange(other, ROUNDS);
            exchange(one, 1);
        }
    }

    /** A stream has two buffers in a turn of the loop; what the application posts in the same turn is sent before the second. */
    @Test
    void whatAnApplicationAsksForGoesAheadOfTheRestOfAStream() throws Exception {
        int buffer = loops.settings().stagingCapacity();
        int share = 2 * buffer / LONG_FPDU.length;
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        CompletableFuture<Integer> ahead = new CompletableFuture<>();
        try (TcpBed.Connection stream = bed.connect();
                TcpBed.Connection application = bed.connect()) {
            // Until the socket takes so much while nobody reads it.
            send(stream, 16 * share);
            take(stream, 16 * share);
            application
                    .end()
                    .onNextUlpdu(() ->
                            bed.loop().execute(() -> ahead.complete(stream.end().waitingUlpdus())));
            bed.loop().execute(() -> {
                held.countDown();
                TcpBed.await(written);
            });
            TcpBed.await(held);
            send(stream, share);
            application.send(FPDU);
            written.countDown();

            assertThat(ahead.get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isBetween(1, buffer / LONG_FPDU.length);
            take(stream, share);
        }
    }

    private static void send(TcpBed.Connection stream, int longFpdus) throws IOException {
        stream.send(repeat(LONG_FPDU, longFpdus));
    }

    private static void take(TcpBed.Connection stream, int longFpdus) throws InterruptedException {
        for (int i = 0; i < longFpdus; i++) {
            assertThat(stream.end().nextUlpdu()).hasSize(LONG_ULPDU_LENGTH);
        }
    }

    private static byte[] repeat(byte[] octets, int times) {
        ByteBuffer all = ByteBuffer.allocate(times * octets.length);
        for (int i = 0; i < times; i++) {
            all.put(octets);
        }
        return all.array();
    }

    @Test
    void anFpduThatComesInPiecesIsPutTogether() throws Exception {
        try (TcpBed.Connection connection = bed.connect()) {
            exchange(connection, ROUNDS);
            for (byte octet : FPDU) {
                connection.peer().getOutputStream().write(octet);
            }
            assertThat(connection.end().nextUlpdu()).hasSize(ULPDU_LENGTH);
            exchange(connection, 1);
        }
    }

    @Test
    void theEndOfThePeersOctetsIsNoticed() throws Exception {
        try (TcpBed.Connection connection = bed.connect()) {
            exchange(connection, ROUNDS);
            connection.peer().shutdownOutput();
            connection.end().awaitPeerClosed();
        }
    }

    @Test
    void aResetIsTakenForALossAndNotForAnEnd() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (TcpBed.Connection connection = bed.connect()) {
                exchange(connection, 10);
                connection.reset();
                assertThat(connection.end().awaitClosed()).contains("reset");
            }
        }
    }
}
