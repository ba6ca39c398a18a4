// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A listener on one event loop that is the Responder of MPA, with plain sockets of the test as its peers. */
final class TcpBed implements AutoCloseable {

    static final int PATIENCE_MILLIS = 10_000;

    private static final byte[] REQUEST = ("MPA ID Req Frame" + "\0\1\0\0").getBytes(US_ASCII);
    private static final int CRC_LENGTH = 4;
    private static final int FIRST_ULPDU_LENGTH = 18;

    private final EngineLoops loops;
    private final BlockingQueue<Accepted> accepted = new LinkedBlockingQueue<>();
    private final Channel server;

    /** This side's end of a connection. */
    private record Accepted(SocketChannel channel, RecordingEnd end) {}

    /** A plain socket as the peer, and this side's end of it. */
    record Connection(Socket peer, DataInputStream in, SocketChannel channel, RecordingEnd end)
            implements AutoCloseable {

        void send(byte[]... octets) throws IOException {
            peer.getOutputStream().write(concat(octets));
        }

        /** Ends the connection with an RST. */
        void reset() throws IOException {
            peer.setSoLinger(true, 0);
            peer.close();
        }

        @Override
        public void close() throws IOException {
            peer.close();
        }
    }

    /** @param loops the connections' owner, and the caller's to close */
    TcpBed(EngineLoops loops) {
        this.loops = loops;
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

    private void adopt(SocketChannel channel) {
        RecordingEnd end = new RecordingEnd();
        TcpTransport.adopt(loops, channel, Unpooled.EMPTY_BUFFER, transport -> {
            MpaConnection mpa = new MpaConnection(
                    MpaRole.RESPONDER, MpaOptions.defaults().with(RecordingEnd::withoutCrc), transport, end);
            end.bind(mpa);
            transport.bind(mpa);
            mpa.start();
        });
        accepted.add(new Accepted(channel, end));
    }

    /** The loop of all connections. */
    EventLoop loop() {
        return server.eventLoop();
    }

    /** A connection in full operation, in which this side may not send yet. */
    Connection connect() throws Exception {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        Socket peer = new Socket(address.getAddress(), address.getPort());
        peer.setSoTimeout(PATIENCE_MILLIS);
        peer.setTcpNoDelay(true);
        Accepted own = accepted.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(own).isNotNull();
        DataInputStream in = new DataInputStream(peer.getInputStream());
        peer.getOutputStream().write(REQUEST);
        in.readNBytes(REQUEST.length);
        return new Connection(peer, in, own.channel(), own.end());
    }

    /** A connection in full operation, in which this side may send. */
    Connection connectToSend() throws Exception {
        Connection connection = connect();
        connection.send(fpdu(FIRST_ULPDU_LENGTH));
        assertThat(connection.end().nextUlpdu()).hasSize(FIRST_ULPDU_LENGTH);
        return connection;
    }

    /** Waits in one thread for another. */
    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An FPDU of zeros; both sides declare C=0. */
    static byte[] fpdu(int ulpduLength) {
        int padding = -(Short.BYTES + ulpduLength) & 3;
        return ByteBuffer.allocate(Short.BYTES + ulpduLength + padding + CRC_LENGTH)
                .putShort((short) ulpduLength)
                .array();
    }

    private static byte[] concat(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteBuffer all = ByteBuffer.allocate(length);
        for (byte[] part : parts) {
            all.put(part);
        }
        return all.array();
    }

    @Override
    public void close() {
        server.close().syncUninterruptibly();
    }
}
