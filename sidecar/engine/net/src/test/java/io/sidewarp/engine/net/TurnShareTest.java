// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests that busy work on a loop lets the loop look at its sockets. */
class TurnShareTest {

    private static final int RUNS = 7;
    private static final byte[] FPDU = TcpBed.fpdu(18);
    private static final byte[] LONG_ULPDU = new byte[16 << 10];
    /** More than a loop sends in 64 tasks. */
    private static final int LONG_ULPDUS = 4000;
    /** A stream has two shares in a turn, and a share is at most two buffers. */
    private static final int MOST_IN_A_TURN = 2 * 2 * NetSettings.LARGE_OUTPUT_CAPACITY / LONG_ULPDU.length;

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(1, NetSettings.defaults());

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    private final List<String> order = new ArrayList<>();
    private final CompletableFuture<List<String>> done = new CompletableFuture<>();

    /** Repeats until it has run often enough. */
    private final class Work implements Runnable {

        private final boolean wholeShares;
        private final TurnShare share = new TurnShare(bed.loop(), this);
        private int runs;

        Work(boolean wholeShares) {
            this.wholeShares = wholeShares;
        }

        @Override
        public void run() {
            order.add("share");
            if (wholeShares) {
                share.use();
            }
            runs++;
            if (runs < RUNS) {
                share.request();
            } else {
                done.complete(List.copyOf(order));
            }
        }
    }

    /** Notes each turn of the loop until the work is done. */
    private void noteTurns() {
        order.add("turn");
        if (!done.isDone()) {
            bed.loop().execute(this::noteNextTurn);
        }
    }

    private void noteNextTurn() {
        ((SingleThreadEventLoop) bed.loop()).executeAfterEventLoopIteration(this::noteTurns);
    }

    private List<String> orderOf(Work work) throws Exception {
        bed.loop().execute(() -> {
            noteNextTurn();
            work.share.request();
        });
        return done.get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Test
    void wholeSharesEndWithTheTurnAndGoOnInTheNext() throws Exception {
        assertThat(orderOf(new Work(true)))
                .containsExactly("share", "share", "turn", "share", "share", "turn", "share", "share", "turn", "share");
    }

    @Test
    void whatUsesLittleGoesOnAtOnce() throws Exception {
        assertThat(orderOf(new Work(false))).containsOnly("share").hasSize(RUNS);
    }

    @Test
    void aStreamDoesNotKeepTheLoopFromOtherConnections() throws Exception {
        EventLoop loop = bed.loop();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        CompletableFuture<Integer> sent = new CompletableFuture<>();
        try (TcpBed.Connection stream = bed.connectToSend();
                TcpBed.Connection other = bed.connectToSend()) {
            other.end()
                    .onNextUlpdu(() -> sent.complete(LONG_ULPDUS - stream.end().unsentUlpdus()));
            loop.execute(() -> {
                held.countDown();
                TcpBed.await(written);
                stream.end().send(LONG_ULPDU, LONG_ULPDUS);
            });
            TcpBed.await(held);
            Thread reader = Thread.startVirtualThread(() -> drain(stream));
            other.send(FPDU);
            written.countDown();

            assertThat(sent.get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isBetween(1, MOST_IN_A_TURN);
            stream.close();
            assertThat(reader.join(Duration.ofMillis(TcpBed.PATIENCE_MILLIS))).isTrue();
        }
    }

    private static void drain(TcpBed.Connection connection) {
        try {
            connection.in().transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            if (!connection.peer().isClosed()) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
