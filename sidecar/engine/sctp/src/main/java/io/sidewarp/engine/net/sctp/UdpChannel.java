// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DatagramPacket;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.StagingAllocator;
import io.sidewarp.engine.net.StagingBuffer;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A UDP socket with its own buffers for input and output. Belongs to its loop. Netty allocates a small packet object
 * and an address per datagram; the bytes stay in buffers that are reused.
 */
final class UdpChannel extends ChannelInboundHandlerAdapter {

    /** Most bytes of a datagram over IPv4. */
    static final int LARGEST_DATAGRAM = 65507;

    private static final int READS_PER_TURN = 32;

    /**
     * Datagrams written together. The first of a larger number would leave the caches before the write, and would use
     * up the buffers.
     */
    private static final int FLUSH_BATCH = 16;

    /** Takes input. */
    interface Receiver {

        /** Takes a datagram. The buffer is valid during the call. */
        void onDatagram(WireBuffer buffer, int length, InetSocketAddress sender);

        /** Notes that there are no more datagrams for now. The receiver flushes its output. */
        void onBatchDone();
    }

    private final EngineLoops loops;
    private final Receiver receiver;
    private final IntFunction<StagingBuffer> allocator;
    private final StagingBuffer input = new StagingBuffer(1 << 16);
    private final ArrayDeque<StagingBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<StagingBuffer> queued = new ArrayDeque<>();
    private final int bufferSize;
    private final int maxBuffers;
    private @Nullable Channel channel;
    private int buffers;
    private int unflushed;

    /**
     * @param packetSize size in bytes that output datagrams rarely exceed
     * @param allocator creates a buffer with the given number of bytes
     */
    UdpChannel(
            EngineLoops loops,
            Receiver receiver,
            int packetSize,
            int outputQueue,
            IntFunction<StagingBuffer> allocator) {
        this.loops = loops;
        this.receiver = receiver;
        this.allocator = allocator;
        // Occasionally usrsctp bundles a SACK with a full DATA chunk that it retransmits; IP fragments that packet.
        this.bufferSize = Math.min(2 * packetSize, LARGEST_DATAGRAM);
        this.maxBuffers = Math.max(1, outputQueue / bufferSize);
    }

    static CompletableFuture<UdpChannel> bind(UdpEndpoint endpoint, InetSocketAddress address) {
        EngineLoops loops = endpoint.loops();
        SctpSettings settings = endpoint.settings();
        UdpChannel udp =
                new UdpChannel(loops, endpoint, endpoint.packetSize(), settings.outputQueue(), StagingBuffer::new);
        CompletableFuture<UdpChannel> result = new CompletableFuture<>();
        ChannelFuture bind = new Bootstrap()
                .group(endpoint.loop())
                .channel(loops.datagramChannelType())
                .option(ChannelOption.SO_RCVBUF, settings.udpBuffer())
                .option(ChannelOption.SO_SNDBUF, settings.udpBuffer())
                .option(
                        ChannelOption.RCVBUF_ALLOCATOR,
                        new StagingAllocator(
                                udp.input::forReading, udp.input.wire().capacity(), READS_PER_TURN, false))
                .handler(udp)
                .bind(address);
        bind.addListener(ignored -> {
            if (bind.isSuccess()) {
                udp.channel = bind.channel();
                result.complete(udp);
            } else {
                result.completeExceptionally(bind.cause());
            }
        });
        return result;
    }

    private Channel channel() {
        if (channel == null) {
            throw new IllegalStateException("not bound");
        }
        return channel;
    }

    /**
     * Returns the bytes of datagrams that the system holds until they are read. It may have granted less than was
     * requested.
     */
    int receiveBuffer() {
        // Linux also counts its own overhead around the datagrams, and reports twice the requested value.
        return channel().config().getOption(ChannelOption.SO_RCVBUF) / 2;
    }

    InetSocketAddress localAddress() {
        return (InetSocketAddress) channel().localAddress();
    }

    /**
     * Returns a buffer for a datagram. Returns null when the datagram is too long, or when too many datagrams wait for
     * the socket.
     */
    @Nullable
    StagingBuffer acquire(int length) {
        if (length > bufferSize) {
            return null;
        }
        StagingBuffer head = queued.peekFirst();
        while (head != null && head.isFree()) {
            free.addFirst(queued.removeFirst());
            head = queued.peekFirst();
        }
        StagingBuffer buffer = free.pollFirst();
        if (buffer == null && buffers < maxBuffers) {
            // Counted after the allocation, which may fail for lack of memory.
            buffer = allocator.apply(bufferSize);
            buffers++;
        }
        return buffer;
    }

    /** Releases a buffer that was acquired and not used. */
    void release(StagingBuffer buffer) {
        free.addFirst(buffer);
    }

    /**
     * Writes a datagram with the next {@link #flush}, or at once when enough datagrams wait for the flush. Takes the
     * buffer, also when it throws.
     */
    void write(StagingBuffer buffer, int length, InetSocketAddress to) {
        ByteBuf view = null;
        DatagramPacket packet;
        try {
            view = buffer.forWriting(length);
            packet = new DatagramPacket(view, to);
            queued.addLast(buffer);
        } catch (RuntimeException | Error e) {
            if (view != null) {
                view.release();
            }
            release(buffer);
            throw e;
        }
        channel().write(packet, channel().voidPromise());
        if (++unflushed >= FLUSH_BATCH) {
            flush();
        }
    }

    void flush() {
        if (unflushed > 0) {
            unflushed = 0;
            channel().flush();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        DatagramPacket packet = (DatagramPacket) message;
        try {
            // The allocator has only one buffer, and the datagram begins at its offset 0.
            receiver.onDatagram(input.wire(), packet.content().readableBytes(), packet.sender());
        } finally {
            packet.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        receiver.onBatchDone();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // A datagram that the system did not take counts as lost; SCTP repairs the loss (RFC 6951 section 5.5).
        if (!(cause instanceof java.io.IOException)) {
            loops.onFault(cause);
        }
    }

    CompletableFuture<Void> close() {
        CompletableFuture<Void> result = new CompletableFuture<>();
        channel().close().addListener(ignored -> result.complete(null));
        return result;
    }
}
