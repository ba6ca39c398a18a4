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
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import java.util.concurrent.CompletableFuture;
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
                                        Http2FrameCodecBuilder.forClient().build(),
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

        Http2Headers refusal = Waiting.join(second.trailers);
        assertThat(status(refusal)).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refusal.get("grpc-message").toString()).contains("sidewarp.limits.request-octets");
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

    private static Status.Code status(Http2Headers trailers) {
        return Status.fromCodeValue(trailers.getInt("grpc-status")).getCode();
    }

    /** One Queue call and its only message. */
    private final class Request {

        private final CompletableFuture<Http2Headers> trailers = new CompletableFuture<>();
        private final Channel stream;

        Request() {
            stream = new Http2StreamChannelBootstrap(client)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object frame) {
                            if (frame instanceof Http2HeadersFrame headers && headers.isEndStream()) {
                                trailers.complete(headers.headers());
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

        /** Sends the last octet. */
        void complete() {
            stream.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.buffer(1).writeZero(1)));
        }
    }
}
