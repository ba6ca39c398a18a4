// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.testing.TestSidecar;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RequestFramesTest {

    private static final int STREAM = 3;
    private static final int PADDING = 7;

    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext context = channel.pipeline().firstContext();
    private final Http2Connection http2 = new DefaultHttp2Connection(true);
    private final Transport transport = new Transport();
    private final RequestFrames frames = new RequestFrames(http2, transport);

    @BeforeEach
    void begin() throws Http2Exception {
        http2.remote().createStream(STREAM, false);
        frames.onHeadersRead(context, STREAM, new DefaultHttp2Headers(), 0, (short) 16, false, 0, false);
        ApiConnection connection = new ApiConnections(
                        TestSidecar.config(Path.of("/dev/shm/none")).limits(), new QuotaRefusals())
                .open(new Peer(1, 1000, 1000), channel);
        transport.octets.begin(connection, refusal -> {});
    }

    @Test
    void emptyFramesReachNobodyUnlessTheyEndTheRequest() throws Http2Exception {
        assertThat(read(Unpooled.EMPTY_BUFFER, false)).isEqualTo(PADDING);
        assertThat(transport.read).isEmpty();

        assertThat(read(Unpooled.EMPTY_BUFFER, true)).isEqualTo(PADDING);
        assertThat(transport.read).hasSize(1);
        assertThat(transport.ended).isTrue();
    }

    @Test
    void aMessageThatItsCallWaitsForIsHandedOnAsItIs() throws Http2Exception {
        transport.octets.ask(1);
        ByteBuf message = message(100);

        read(message, false);

        assertThat(transport.read.getFirst()).isSameAs(message);
    }

    @Test
    void ofShortFramesThatAreKeptNothingElseIs() throws Http2Exception {
        // Nobody asked for it.
        ByteBuf message = message(100);
        read(message, false);
        // It is only the beginning of a message, and then the rest.
        transport.octets.ask(2);
        transport.octets.inboundMessageRead(0, 100, 100);
        ByteBuf beginning = message(100).writerIndex(50);
        read(beginning, false);
        ByteBuf rest = message(100).readerIndex(50);
        read(rest, false);

        assertThat(transport.read).extracting(ByteBuf::readableBytes).containsExactly(105, 50, 55);
        assertThat(transport.read.get(0)).isNotSameAs(message);
        assertThat(transport.read.get(1)).isNotSameAs(beginning);
        assertThat(transport.read.get(2)).isNotSameAs(rest);
    }

    @Test
    void longFramesAreNotCopied() throws Http2Exception {
        ByteBuf beginning = message(10_000).writerIndex(5000);

        read(beginning, false);

        assertThat(transport.read.getFirst()).isSameAs(beginning);
    }

    @Test
    void nothingIsKeptOfWhatComesBehindTheEndOfACall() throws Http2Exception {
        transport.octets.close();

        assertThat(read(message(100), false)).isEqualTo(105 + PADDING);
        assertThat(transport.read).isEmpty();
        assertThat(read(message(100), true)).isEqualTo(105 + PADDING);
        assertThat(transport.read).extracting(ByteBuf::readableBytes).containsExactly(0);
        assertThat(transport.ended).isTrue();
    }

    @Test
    void nothingIsKeptForACallThatNobodyServes() throws Http2Exception {
        int other = STREAM + 2;
        http2.remote().createStream(other, false);
        frames.onHeadersRead(context, other, new DefaultHttp2Headers(), 0, (short) 16, false, 0, false);

        assertThat(frames.onDataRead(context, other, message(100), 0, false)).isEqualTo(105);
        assertThat(transport.read).isEmpty();
    }

    @Test
    void aCallThatHasGoneTakesNothingFromOthers() throws Http2Exception {
        transport.octets.streamClosed(Status.CANCELLED);

        assertThat(read(message(100), false)).isEqualTo(105 + PADDING);
        assertThat(transport.read).isEmpty();
    }

    private int read(ByteBuf data, boolean end) throws Http2Exception {
        return frames.onDataRead(context, STREAM, data, PADDING, end);
    }

    private static ByteBuf message(int length) {
        return Unpooled.buffer().writeByte(0).writeInt(length).writeZero(length);
    }

    /** What gRPC sees: it begins a call with the headers. */
    private static final class Transport extends Http2FrameAdapter {

        private final List<ByteBuf> read = new ArrayList<>();
        private RequestOctets octets;
        private boolean ended;

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context,
                int streamId,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean endOfStream) {
            octets = (RequestOctets) RequestOctets.FACTORY.newServerStreamTracer("any", new Metadata());
        }

        @Override
        public int onDataRead(
                ChannelHandlerContext context, int streamId, ByteBuf data, int padding, boolean endOfStream) {
            read.add(data.retain());
            ended = endOfStream;
            return padding;
        }
    }
}
