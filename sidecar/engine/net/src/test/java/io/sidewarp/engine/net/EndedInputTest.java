// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests connections whose peer has ended its direction, while this side still has output. */
class EndedInputTest {

    private static final byte[] FPDU = TcpBed.fpdu(18);
    private static final byte[] LONG_ULPDU = new byte[1000];
    private static final int LONG_FPDU_LENGTH = TcpBed.fpdu(LONG_ULPDU.length).length;
    /** More than sockets hold. */
    private static final int LONG_ULPDUS = 64 << 10;

    private final AtomicLong turns = new AtomicLong();
    private final EventLoopGroup group =
            new EpollEventLoopGroup(1, new DefaultThreadFactory("counted-loop", true), this::counting);
    private final EngineLoops loops = EngineLoops.shared(
            group,
            NetSettings.defaults()
                    .withStagingCapacity(NetSettings.MIN_STAGING_CAPACITY)
                    .withOutputBuffers(1, 1));
    private final TcpBed bed = new TcpBed(loops);

    /** Sleeps where there is no task, and counts how often the loop comes by. */
    private SelectStrategy counting() {
        return (selectNow, hasTasks) -> {
            turns.incrementAndGet();
            return hasTasks ? selectNow.get() : SelectStrategy.SELECT;
        };
    }

    @AfterEach
    void close() {
        bed.close();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private <T> T onLoop(Callable<T> task) throws Exception {
        return bed.loop().submit(task).get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void fill(TcpBed.Connection connection) {
        bed.loop().execute(() -> connection.end().send(LONG_ULPDU, LONG_ULPDUS));
        Awaitility.await().until(() -> onLoop(() -> !connection.channel().isWritable()));
    }

    private void awaitSleep() {
        AtomicLong before = new AtomicLong();
        Awaitility.await()
                .pollInterval(Duration.ofMillis(50))
                .until(() -> before.getAndSet(turns.get()) == turns.get());
    }

    @Test
    void aResetBehindThePeersEndDoesNotKeepTheLoopBusyAndTheNextOutputFails() throws Exception {
        try (TcpBed.Connection full = bed.connectToSend();
                TcpBed.Connection ended = bed.connectToSend();
                TcpBed.Connection next = bed.connectToSend()) {
            fill(full);
            ended.peer().shutdownOutput();
            ended.end().awaitPeerClosed();
            ended.reset();

            awaitSleep();
            ended.end().sendFrom(bed.loop(), new byte[18]);
            next.end().sendFrom(bed.loop(), new byte[18]);
            assertThat(ended.end().awaitClosed()).contains("failed");
            assertThat(next.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
        }
    }

    @Test
    void aPeerThatGoesOnReadingGetsAllThatThereIs() throws Exception {
        try (TcpBed.Connection connection = bed.connectToSend()) {
            fill(connection);
            connection.peer().shutdownOutput();
            connection.end().awaitPeerClosed();
            bed.loop().execute(() -> connection.end().send(new byte[18], 1));

            for (int i = 0; i < LONG_ULPDUS; i++) {
                connection.in().readFully(new byte[LONG_FPDU_LENGTH]);
            }
            assertThat(connection.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
        }
    }

    @Test
    void anAbortRightBehindThePeersEndIsToldOf() throws Exception {
        try (TcpBed.Connection connection = bed.connectToSend()) {
            connection.end().whenPeerClosed(() -> bed.loop().execute(connection.end()::abort));
            connection.peer().shutdownOutput();

            assertThat(connection.end().awaitClosed()).isEqualTo("aborted by this side");
        }
    }
}
