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
import io.netty.channel.EventLoop;
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
 * A UDP socket with buffers of its own for what it reads and writes. Belongs to its loop. Netty allocates a small packet
 * object and an address per datagram; the octets stay in buffers that are used again.
 */
final class UdpChannel extends ChannelInboundHandlerAdapter {

    /** What a datagram can hold over IPv4. */
    static final int LARGEST_DATAGRAM = 65507;

    private static final int READS_PER_TURN = 32;

    /** Datagrams written together; more would have cooled down in the caches, and used up the buffers. */
    private static final int FLUSH_BATCH = 16;

    /** Takes what comes in. */
    interface Receiver {

        /** A datagram; the buffer is valid during the call. */
        void onDatagram(WireBuffer buffer, int length, InetSocketAddress sender);

        /** No more datagrams for now; flushes what it has written. */
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

    /** @param allocator of buffers with a number of bytes */
    UdpChannel(
            EngineLoops loops,
            Receiver receiver,
            int packetSize,
            int outputQueue,
            IntFunction<StagingBuffer> allocator) {
        this.loops = loops;
        this.receiver = receiver;
        this.allocator = allocator;
        // Now and then usrsctp bundles a SACK with a full DATA chunk that it sends again; IP fragments that packet.
        this.bufferSize = Math.min(2 * packetSize, LARGEST_DATAGRAM);
        this.maxBuffers = Math.max(1, outputQueue / bufferSize);
    }

    /** @param packetSize octets that datagrams to write rarely exceed */
    static CompletableFuture<UdpChannel> bind(
            EngineLoops loops,
            EventLoop loop,
            InetSocketAddress address,
            SctpSettings settings,
            int packetSize,
            Receiver receiver) {
        UdpChannel udp = new UdpChannel(loops, receiver, packetSize, settings.outputQueue(), StagingBuffer::new);
        CompletableFuture<UdpChannel> result = new CompletableFuture<>();
        ChannelFuture bind = new Bootstrap()
                .group(loop)
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

    /** Octets of datagrams that the system holds until they are read; it may have granted less than was asked for. */
    int receiveBuffer() {
        // Linux counts what it needs around the datagrams, and tells twice what it was asked for.
        return channel().config().getOption(ChannelOption.SO_RCVBUF) / 2;
    }

    InetSocketAddress localAddress() {
        return (InetSocketAddress) channel().localAddress();
    }

    /** A buffer for a datagram, or null when as many as allowed wait for the socket or when it is too long. */
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
            // Counted when it is there: there may be no memory for a new one.
            buffer = allocator.apply(bufferSize);
            buffers++;
        }
        return buffer;
    }

    /** The buffer was acquired in vain. */
    void release(StagingBuffer buffer) {
        free.addFirst(buffer);
    }

    /**
     * Writes a datagram with the next {@link #flush}, or at once when some wait for that already. Takes the buffer, also
     * when it throws.
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
            // It was read into the only buffer that the allocator gives, from its beginning.
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
        // A datagram that the system did not take is one that was lost; SCTP repairs that (RFC 6951 section 5.5).
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
