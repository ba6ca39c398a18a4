// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections of a loop that never sleeps, and so reads from the one that had input last without asking epoll. */
class PolledConnectionTest {

    private static final int PATIENCE_MILLIS = 10_000;
    private static final int ROUNDS = 200;
    private static final int ULPDU_LENGTH = 18;
    private static final byte[] REQUEST = ("MPA ID Req Frame" + "\0\1\0\0").getBytes(US_ASCII);
    /** Both sides declare C=0. */
    private static final byte[] FPDU = HexFormat.of().parseHex("0012" + "00".repeat(ULPDU_LENGTH) + "00000000");

    private static final int LONG_ULPDU_LENGTH = 1010;
    private static final byte[] LONG_FPDU =
            HexFormat.of().parseHex("03f2" + "00".repeat(LONG_ULPDU_LENGTH) + "00000000");

    private final EventLoopGroup group = EngineLoops.newGroup(1, Duration.ofMinutes(1));
    private final EngineLoops loops = EngineLoops.shared(group, NetSettings.defaults());

    private final BlockingQueue<RecordingEnd> ends = new LinkedBlockingQueue<>();
    private Channel server;

    /** A plain socket as the peer, and this side's end of it. */
    private record Connection(Socket peer, DataInputStream in, RecordingEnd end) implements AutoCloseable {

        @Override
        public void close() throws IOException {
            peer.close();
        }
    }

    @BeforeEach
    void listen() {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops.choose())
                .channel(loops.serverChannelType())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        adopt(channel);
                    }
                });
        loops.tellAgain(bootstrap::childOption);
        server = bootstrap
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    @AfterEach
    void close() {
        server.close().syncUninterruptibly();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void adopt(SocketChannel channel) {
        RecordingEnd end = new RecordingEnd();
        TcpTransport.adopt(loops, channel, Unpooled.EMPTY_BUFFER, transport -> {
            MpaConnection mpa = new MpaConnection(
                    MpaRole.RESPONDER, MpaOptions.defaults().with(RecordingEnd::withoutCrc), transport, end);
            end.bind(mpa);
            transport.bind(mpa);
            mpa.start();
        });
        ends.add(end);
    }

    private Connection connect() throws Exception {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        Socket peer = new Socket(address.getAddress(), address.getPort());
        peer.setSoTimeout(PATIENCE_MILLIS);
        peer.setTcpNoDelay(true);
        RecordingEnd end = ends.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(end).isNotNull();
        DataInputStream in = new DataInputStream(peer.getInputStream());
        peer.getOutputStream().write(REQUEST);
        in.readNBytes(REQUEST.length);
        return new Connection(peer, in, end);
    }

    /** Messages one at a time, each answered. */
    private void exchange(Connection connection, int rounds) throws Exception {
        for (int i = 0; i < rounds; i++) {
            connection.peer().getOutputStream().write(FPDU);
            assertThat(connection.end().nextUlpdu()).hasSize(ULPDU_LENGTH);
            connection.end().sendFrom(server.eventLoop(), new byte[ULPDU_LENGTH]);
            assertThat(connection.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
        }
    }

    @Test
    void connectionsGetTheirTurnBesideTheOneThatIsReadAlone() throws Exception {
        try (Connection one = connect();
                Connection other = connect()) {
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
        CountDownLatch written = new CountDownLatch(1);
        CompletableFuture<Integer> ahead = new CompletableFuture<>();
        try (Connection stream = connect();
                Connection application = connect()) {
            // Until the socket takes so much while nobody reads it.
            send(stream, 16 * share);
            take(stream, 16 * share);
            application
                    .end()
                    .onNextUlpdu(() -> server.eventLoop()
                            .execute(() -> ahead.complete(stream.end().waitingUlpdus())));
            server.eventLoop().execute(() -> await(written));
            send(stream, share);
            application.peer().getOutputStream().write(FPDU);
            written.countDown();

            assertThat(ahead.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isBetween(1, buffer / LONG_FPDU.length);
            take(stream, share);
        }
    }

    private static void send(Connection stream, int longFpdus) throws IOException {
        stream.peer().getOutputStream().write(repeat(LONG_FPDU, longFpdus));
    }

    private static void take(Connection stream, int longFpdus) throws InterruptedException {
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

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anFpduThatComesInPiecesIsPutTogether() throws Exception {
        try (Connection connection = connect()) {
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
        try (Connection connection = connect()) {
            exchange(connection, ROUNDS);
            connection.peer().shutdownOutput();
            connection.end().awaitPeerClosed();
        }
    }

    @Test
    void aResetIsTakenForALossAndNotForAnEnd() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (Connection connection = connect()) {
                exchange(connection, 10);
                connection.peer().setSoLinger(true, 0);
                connection.peer().close();
                assertThat(connection.end().awaitClosed()).contains("reset");
            }
        }
    }
}
