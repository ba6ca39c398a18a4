// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StagingAllocatorTest {

    private static final int CAPACITY = 1024;
    private static final int READS_PER_TURN = 2;
    private static final long PATIENCE_SECONDS = 20;

    private final List<EventLoopGroup> groups =
            List.of(EngineLoops.newGroup(1, Duration.ZERO), new NioEventLoopGroup(1));

    @AfterEach
    void close() {
        groups.forEach(group -> group.shutdownGracefully(0, 2, TimeUnit.SECONDS));
    }

    @FunctionalInterface
    private interface Reader {

        void onRead() throws IOException;
    }

    private static Channel connect(EngineLoops loops, ServerSocketChannel listener, Reader reader) throws Exception {
        Bootstrap bootstrap = new Bootstrap()
                .group(loops.choose())
                .channel(loops.channelType())
                .option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) throws IOException {
                        ((ByteBuf) message).release();
                        reader.onRead();
                    }
                });
        loops.tellAgain(bootstrap::option);
        Channel channel = bootstrap.connect(listener.getLocalAddress()).sync().channel();
        channel.config()
                .setRecvByteBufAllocator(new StagingAllocator(
                        () -> Unpooled.directBuffer(CAPACITY, CAPACITY),
                        CAPACITY,
                        READS_PER_TURN,
                        EngineLoops.tellsAgain(channel)));
        return channel;
    }

    /** So that what an application answers does not wait until all of a stream has been read. */
    @ParameterizedTest(name = "native: {0}")
    @ValueSource(booleans = {true, false})
    void aStreamThatIsNotReadYetLetsOtherChannelsHaveTheirTurn(boolean isNative) throws Exception {
        EngineLoops loops = EngineLoops.shared(groups.get(isNative ? 0 : 1), NetSettings.defaults());
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            AtomicInteger streamReads = new AtomicInteger();
            CompletableFuture<Integer> readsBeforeTheOther = new CompletableFuture<>();
            Channel other = connect(loops, listener, () -> readsBeforeTheOther.complete(streamReads.get()));
            try (SocketChannel otherPeer = listener.accept()) {
                Channel stream = connect(loops, listener, () -> {
                    if (streamReads.incrementAndGet() == 1) {
                        otherPeer.write(ByteBuffer.allocate(1));
                    }
                });
                try (SocketChannel peer = listener.accept()) {
                    long waiting = fill(peer);
                    other.config().setAutoRead(true);
                    stream.config().setAutoRead(true);

                    assertThat(readsBeforeTheOther.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                            .isLessThanOrEqualTo(3 * READS_PER_TURN)
                            .isLessThan((int) (waiting / CAPACITY));
                }
            }
        }
    }

    /** Sends until nothing more goes. */
    private static long fill(SocketChannel peer) throws IOException {
        peer.configureBlocking(false);
        ByteBuffer octets = ByteBuffer.allocate(64 * CAPACITY);
        long sent = 0;
        int step;
        do {
            octets.clear();
            step = peer.write(octets);
            sent += step;
        } while (step > 0);
        return sent;
    }
}
