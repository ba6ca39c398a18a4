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
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.verbs.LlpError;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that connections use the configured congestion control, as the kernel reports it for their sockets. */
@EnabledIf("hasEpoll")
class CongestionControlTest {

    /** Every kernel has it, and every process may use it. */
    private static final String RENO = "reno";

    /** Consumer of a connection that is closed again. */
    private static final class Nobody implements MpaStartupListener {

        @Override
        public void onRequest(MpaStartup request) {}

        @Override
        public void onEstablished(MpaStartup agreed) {}

        @Override
        public void onRejected(MpaStartup reply) {}

        @Override
        public void onUnenhancedPeer(String message) {}

        @Override
        public void onStartupFailed(LlpError reason, String message) {}
    }

    static boolean hasEpoll() {
        return Epoll.isAvailable();
    }

    private static NetSettings settings(String congestionControl) {
        return NetSettings.defaults().withCongestionControl(congestionControl).withBusyPoll(Duration.ZERO);
    }

    /** Returns the congestion control of an open socket after the engine has adopted it. */
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
                CompletableFuture<String> name = new CompletableFuture<>();
                channel.eventLoop()
                        .execute(() -> TcpTransport.adopt(loops, channel, Unpooled.EMPTY_BUFFER, transport -> {
                            MpaConnection mpa = new MpaConnection(
                                    MpaRole.INITIATOR, MpaOptions.defaults(), transport, new Nobody());
                            transport.bind(mpa);
                            name.complete(name(channel));
                            mpa.abort();
                        }));
                return name.get(10, TimeUnit.SECONDS);
            } finally {
                channel.close().sync();
            }
        }
    }

    /** One that every process may use; not {@link #RENO} where there is another. */
    private static String another() throws IOException {
        return Arrays.stream(Files.readString(Path.of("/proc/sys/net/ipv4/tcp_allowed_congestion_control"))
                        .strip()
                        .split(" "))
                .filter(name -> !name.equals(RENO))
                .findAny()
                .orElse(RENO);
    }

    /** TCP_CONGESTION of tcp(7). */
    private static String name(SocketChannel channel) {
        ByteBuffer value = channel.config().getOption(new RawUnixChannelOption("TCP_CONGESTION", 6, 13, 16));
        return US_ASCII.decode(value.rewind()).toString().replace("\0", "");
    }

    @Test
    void aConnectionHasTheOneThatItIsTold() throws Exception {
        assertThat(used(another())).isEqualTo(another());
    }

    @Test
    void aConnectionThatIsToldNothingHasOneWithoutPacingOnLoopback() throws Exception {
        assertThat(used(CongestionControl.AUTOMATIC)).isEqualTo(RENO);
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1, true",
        "127.0.0.1, 127.0.0.2, true",
        "::1, ::1, true",
        "192.0.2.1, 192.0.2.1, true",
        "192.0.2.1, 192.0.2.2, false",
        "2001:db8::1, 2001:db8::2, false"
    })
    void onlyAPeerBehindNoNetworkIsLocal(String local, String remote, boolean expected) {
        assertThat(CongestionControl.isLocal(new InetSocketAddress(local, 1), new InetSocketAddress(remote, 2)))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {RENO, CongestionControl.AUTOMATIC})
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
