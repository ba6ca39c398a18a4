// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections have the congestion control that they are told, as the kernel says of their sockets. */
@EnabledIf("hasEpoll")
class CongestionControlTest {

    /** Every kernel has it, and every process may use it. */
    private static final String RENO = "reno";

    static boolean hasEpoll() {
        return Epoll.isAvailable();
    }

    private static NetSettings settings(String congestionControl) {
        NetSettings defaults = NetSettings.defaults();
        return new NetSettings(
                defaults.stagingCapacity(),
                defaults.outputBuffers(),
                defaults.largeOutputBuffers(),
                defaults.defaultEmss(),
                defaults.lingerTimeout(),
                defaults.connectTimeout(),
                defaults.stallTimeout(),
                defaults.keepAlive(),
                congestionControl,
                Duration.ZERO);
    }

    /** What the socket of a connection has, open and handed to the engine. */
    private static String used(String congestionControl) throws Exception {
        try (EngineLoops loops = EngineLoops.create(1, settings(congestionControl));
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketChannel channel = (SocketChannel) new Bootstrap()
                    .group(loops.choose())
                    .channel(loops.channelType())
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(server.getLocalSocketAddress())
                    .sync()
                    .channel();
            try {
                return channel.eventLoop()
                        .submit(() -> {
                            TcpTransport.adopt(loops, channel, Unpooled.EMPTY_BUFFER, transport -> {});
                            return name(channel);
                        })
                        .get();
            } finally {
                channel.close().sync();
            }
        }
    }

    /** TCP_CONGESTION of tcp(7). */
    private static String name(SocketChannel channel) {
        ByteBuffer value = channel.config().getOption(new RawUnixChannelOption("TCP_CONGESTION", 6, 13, 16));
        return US_ASCII.decode(value.rewind()).toString().replace("\0", "");
    }

    @Test
    void aConnectionHasTheOneThatItIsTold() throws Exception {
        assertThat(used(RENO)).isEqualTo(RENO);
    }

    @Test
    void aConnectionThatIsToldNothingHasThatOfTheMachine() throws Exception {
        String ofTheMachine = Files.readString(Path.of("/proc/sys/net/ipv4/tcp_congestion_control"))
                .strip();

        assertThat(used(CongestionControl.OF_THE_MACHINE)).isEqualTo(ofTheMachine);
    }

    @ParameterizedTest
    @ValueSource(strings = {RENO, CongestionControl.OF_THE_MACHINE})
    void whatTheKernelHasIsAccepted(String name) {
        CongestionControl.require(name);
    }

    @Test
    void whatTheKernelDoesNotHaveIsRefusedWithWhatToDo() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CongestionControl.require("carrier-pigeon"))
                .withMessageContaining("the kernel does not have it")
                .withMessageContaining("tcp_allowed_congestion_control");
    }

    @Test
    void loopsAreNotMadeWithOneThatTheKernelDoesNotHave() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EngineLoops.create(1, settings("carrier-pigeon")))
                .withMessageContaining("the kernel does not have it");
    }
}
