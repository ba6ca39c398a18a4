// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2SettingsFrame;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that do not complete their requests, which gRPC's own do not. */
class HeldRequestsTest {

    private static final int MIB = 1 << 20;

    private TestSidecar sidecar;
    private EpollEventLoopGroup group;
    private Channel client;

    @BeforeEach
    void start() throws InterruptedException {
        // One connection may have 4 MiB of it.
        sidecar = TestSidecar.start("sidewarp.limits.request-octets", Integer.toString(12 * MIB));
        group = new EpollEventLoopGroup(1);
        client = new Bootstrap()
                .group(group)
                .channel(EpollDomainSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(
                                        Http2FrameCodecBuilder.forClient()
                                                .initialSettings(Http2Settings.defaultSettings()
                                                        .initialWindowSize(0))
                                                .build(),
                                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                    }
                })
                .connect(new DomainSocketAddress(sidecar.socket().toFile()))
                .sync()
                .channel();
    }

    @AfterEach
    void stop() {
        client.close().syncUninterruptibly();
        group.shutdownGracefully();
        sidecar.close();
    }

    @Test
    void theRequestThatWouldTakeTooMuchEndsItsCallAndTheOthersGoOn() {
        Request first = new Request();
        first.send(3 * MIB, 3 * MIB + 1).syncUninterruptibly();
        Request second = new Request();
        second.send(2 * MIB, 3 * MIB);

        assertRefused(Waiting.join(second.trailers));
        first.complete();
        // All of it is zero, which no message is.
        assertThat(status(Waiting.join(first.trailers))).isEqualTo(Status.Code.INVALID_ARGUMENT);
        Request third = new Request();
        third.send(3 * MIB, 3 * MIB);
        assertThat(status(Waiting.join(third.trailers))).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void aCallThatIsCancelledGivesBackWhatItHad() {
        for (int call = 0; call < 3; call++) {
            Request request = new Request();
            request.send(3 * MIB, 3 * MIB + 1).syncUninterruptibly();
            request.stream.close().syncUninterruptibly();
        }
        Request last = new Request();
        last.send(3 * MIB, 3 * MIB);

        assertThat(status(Waiting.join(last.trailers))).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void aRequestInPiecesOfOneOctetEndsItsCallLongBeforeItIsLarge() {
        Request small = new Request();
        small.send(0, 3 * MIB).syncUninterruptibly();
        small.sendOctets(33_000);

        assertRefused(Waiting.join(small.trailers));
        Request next = new Request();
        next.send(3 * MIB, 3 * MIB);
        assertThat(status(Waiting.join(next.trailers))).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void whatComesBehindARequestThatWaitsCounts() {
        try (TestSession session = sidecar.session()) {
            List<Request> waiting = new ArrayList<>();
            for (int call = 0; call < 5; call++) {
                Request request = new Request();
                waiting.add(request);
                // Refusals that the client has no window for, so that nothing else of the call is posted.
                request.send(TestQueue.open(session.token(), 500, List.of()));
                request.send(QueueRequest.newBuilder()
                        .setPost(QueuePost.newBuilder()
                                .addAllWork(Collections.nCopies(100, WorkRequest.getDefaultInstance())))
                        .build());
                request.send(2 * MIB, 3 * MIB);
            }

            Awaitility.await()
                    .until(() -> sidecar.get("/q/metrics")
                            .lines()
                            .anyMatch(line -> line.startsWith("sidewarp_quota_refusals_total{")
                                    && line.contains("sidewarp.limits.request-octets")
                                    && !line.endsWith(" 0.0")));
            client.writeAndFlush(new DefaultHttp2SettingsFrame(new Http2Settings().initialWindowSize(MIB)));
            assertRefused((Http2Headers) Waiting.join(CompletableFuture.anyOf(
                    waiting.stream().map(request -> request.trailers).toArray(CompletableFuture[]::new))));
        }
    }

    @Test
    void nothingIsKeptOfWhatComesForACallThatHasEnded() {
        try (TestSession other = sidecar.session("other")) {
            TestSession session = sidecar.session();
            Request request = new Request();
            request.send(TestQueue.open(session.token(), 1, List.of()));
            Waiting.join(request.headers);
            // Its Queue call ends with it; but the client has no window for the first response.
            session.close();
            Awaitility.await()
                    .until(() -> other.device()
                                    .listSessions(ListSessionsRequest.getDefaultInstance())
                                    .getSessionsCount()
                            == 1);

            for (int more = 0; more < 8; more++) {
                assertThat(request.send(MIB, MIB).awaitUninterruptibly(20, TimeUnit.SECONDS))
                        .isTrue();
            }
            assertThat(request.trailers).isNotDone();
        }
    }

    private static void assertRefused(Http2Headers trailers) {
        assertThat(status(trailers)).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(trailers.get("grpc-message").toString()).contains("sidewarp.limits.request-octets");
    }

    private static Status.Code status(Http2Headers trailers) {
        return Status.fromCodeValue(trailers.getInt("grpc-status")).getCode();
    }

    /** One Queue call. */
    private final class Request {

        private final CompletableFuture<Http2Headers> headers = new CompletableFuture<>();
        private final CompletableFuture<Http2Headers> trailers = new CompletableFuture<>();
        private final Http2StreamChannel stream;

        Request() {
            stream = new Http2StreamChannelBootstrap(client)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object frame) {
                            if (frame instanceof Http2HeadersFrame some) {
                                (some.isEndStream() ? trailers : headers).complete(some.headers());
                            }
                            ReferenceCountUtil.release(frame);
                        }
                    })
                    .open()
                    .syncUninterruptibly()
                    .getNow();
            stream.writeAndFlush(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers()
                            .method("POST")
                            .scheme("http")
                            .authority("localhost")
                            .path("/sidewarp.v1.TransferService/Queue")
                            .set("content-type", "application/grpc")
                            .set("te", "trailers")))
                    .syncUninterruptibly();
        }

        /** Sends the beginning of a message, which goes as far as the sidecar takes it. */
        ChannelFuture send(int octets, int announced) {
            ByteBuf data = Unpooled.buffer(5 + octets);
            data.writeByte(0).writeInt(announced).writeZero(octets);
            return stream.writeAndFlush(new DefaultHttp2DataFrame(data));
        }

        /** Sends a message. */
        void send(QueueRequest message) {
            byte[] octets = message.toByteArray();
            ByteBuf data = Unpooled.buffer(5 + octets.length);
            data.writeByte(0).writeInt(octets.length).writeBytes(octets);
            stream.writeAndFlush(new DefaultHttp2DataFrame(data));
        }

        /** Sends octets of a message in frames of their own, which the codec would join. */
        void sendOctets(int count) {
            int id = stream.stream().id();
            ByteBuf frames = Unpooled.buffer();
            for (int i = 0; i < count; i++) {
                frames.writeMedium(1).writeZero(2).writeInt(id).writeByte(0);
            }
            client.pipeline().context(Http2FrameCodec.class).writeAndFlush(frames);
        }

        /** Sends the last octet. */
        void complete() {
            stream.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.buffer(1).writeZero(1)));
        }
    }
}
