// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests MPA on sockets that carried another protocol before. The other end is a plain socket of the test. */
class StreamConversionTest {

    private static final int PATIENCE_MILLIS = 10_000;
    private static final String QUESTION = "what else?\n";
    private static final String LAST_QUESTION = "RDMA?\n";
    private static final String LAST_ANSWER = "yes, from here on\n";
    private static final byte[] REQUEST = frame("MPA ID Req Frame");
    private static final byte[] REPLY = frame("MPA ID Rep Frame");
    /** 18 octets of ULPDU; both sides declare C=0. */
    private static final byte[] FPDU = HexFormat.of().parseHex("0012" + "00".repeat(18) + "00000000");

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(1, NetSettings.defaults());

    private final RecordingEnd end = new RecordingEnd();

    private static byte[] frame(String key) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.writeBytes(key.getBytes(US_ASCII));
        frame.writeBytes(new byte[] {0, 1, 0, 0});
        return frame.toByteArray();
    }

    private void adopt(SocketChannel channel, MpaRole role, ByteBuf surplus) {
        TcpTransport.adopt(loops, channel, surplus, transport -> {
            MpaConnection mpa =
                    new MpaConnection(role, MpaOptions.defaults().with(RecordingEnd::withoutCrc), transport, end);
            end.bind(mpa);
            transport.bind(mpa);
            mpa.start();
        });
    }

    /** Answers lines, and converts the stream after the last line. */
    private final class Streaming extends ChannelInboundHandlerAdapter {

        private final ByteBuf lines = Unpooled.buffer();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf input = (ByteBuf) message;
            lines.writeBytes(input);
            input.release();
            int line = lines.bytesBefore((byte) '\n') + 1;
            while (line > 0) {
                String text = lines.readCharSequence(line, US_ASCII).toString();
                if (text.equals(LAST_QUESTION)) {
                    context.writeAndFlush(Unpooled.copiedBuffer(LAST_ANSWER, US_ASCII));
                    context.pipeline().remove(this);
                    adopt((SocketChannel) context.channel(), MpaRole.RESPONDER, lines);
                    return;
                }
                context.writeAndFlush(Unpooled.copiedBuffer(text, US_ASCII));
                line = lines.bytesBefore((byte) '\n') + 1;
            }
        }
    }

    private Channel listen() {
        EventLoop loop = loops.choose();
        return new ServerBootstrap()
                .group(loop, loop)
                .channel(loops.serverChannelType())
                .childHandler(new Streaming())
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    private static Socket connect(Channel server) throws IOException {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    @ParameterizedTest(name = "in pieces of {0} octets")
    @ValueSource(ints = {1, 7, 1000})
    @Requirement({"MPA-7.1-01", "MPA-7.1.5-01", "DDP-6.1-01"})
    void theResponderBeginsBehindItsLastStreamingOctetAndLosesNothingThatWasReadAlready(int piece) throws Exception {
        Channel server = listen();
        try (Socket peer = connect(server);
                DataInputStream in = new DataInputStream(peer.getInputStream())) {
            ByteArrayOutputStream octets = new ByteArrayOutputStream();
            octets.writeBytes((QUESTION + LAST_QUESTION).getBytes(US_ASCII));
            octets.writeBytes(REQUEST);
            byte[] all = octets.toByteArray();
            peer.setTcpNoDelay(true);
            for (int at = 0; at < all.length; at += piece) {
                peer.getOutputStream().write(all, at, Math.min(piece, all.length - at));
            }

            assertThat(new String(in.readNBytes((QUESTION + LAST_ANSWER).length()), US_ASCII))
                    .isEqualTo(QUESTION + LAST_ANSWER);
            assertThat(in.readNBytes(REPLY.length)).isEqualTo(REPLY);
            peer.getOutputStream().write(FPDU);
            assertThat(end.nextUlpdu()).isEqualTo(new byte[18]);

            end.sendFrom(server.eventLoop(), new byte[18]);
            assertThat(in.readNBytes(FPDU.length)).isEqualTo(FPDU);
        } finally {
            server.close().syncUninterruptibly();
        }
    }

    @Test
    @Requirement({"MPA-7.1-01", "MPA-7.1.5-01", "MPA-A-01", "DDP-6.1-01"})
    void theInitiatorBeginsBehindTheLastMessageThatItSendsAndDisablesNagle() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketChannel channel = (SocketChannel) new Bootstrap()
                    .group(loops.choose())
                    .channel(loops.channelType())
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(server.getLocalSocketAddress())
                    .syncUninterruptibly()
                    .channel();
            channel.config().setTcpNoDelay(false);
            try (Socket peer = server.accept();
                    DataInputStream in = new DataInputStream(peer.getInputStream())) {
                peer.setSoTimeout(PATIENCE_MILLIS);
                channel.eventLoop()
                        .submit(() -> {
                            channel.writeAndFlush(Unpooled.copiedBuffer(LAST_QUESTION, US_ASCII));
                            adopt(channel, MpaRole.INITIATOR, Unpooled.EMPTY_BUFFER);
                        })
                        .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);

                assertThat(new String(in.readNBytes(LAST_QUESTION.length()), US_ASCII))
                        .isEqualTo(LAST_QUESTION);
                assertThat(in.readNBytes(REQUEST.length)).isEqualTo(REQUEST);
                peer.getOutputStream().write(REPLY);
                peer.getOutputStream().write(FPDU);

                assertThat(end.nextUlpdu()).isEqualTo(new byte[18]);
                assertThat(channel.config().isTcpNoDelay()).isTrue();
            }
        }
    }

    @Test
    void aChannelOfOtherEventLoopsIsRefused() {
        try (EngineLoops others = EngineLoops.create(1, NetSettings.defaults())) {
            SocketChannel channel = (SocketChannel) new Bootstrap()
                    .group(others.choose())
                    .channel(others.channelType())
                    .handler(new ChannelInboundHandlerAdapter())
                    .register()
                    .syncUninterruptibly()
                    .channel();

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> adopt(channel, MpaRole.INITIATOR, Unpooled.EMPTY_BUFFER));
            channel.close().syncUninterruptibly();
        }
    }
}
