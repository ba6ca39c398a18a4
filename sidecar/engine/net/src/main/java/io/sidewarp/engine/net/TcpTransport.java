// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.SocketChannel;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaTransport;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.tls.TlsFailure;
import io.sidewarp.engine.verbs.TlsAttributes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One TCP connection below MPA. Input is read into the loop's buffer and parsed there. {@link TcpOutput} sends the
 * output. Once warm, nothing is allocated.
 */
public final class TcpTransport extends ChannelInboundHandlerAdapter implements MpaTransport {

    /**
     * Reads in a row when the socket takes no more output. They cover more than the socket holds; the number is limited
     * because a peer may continue to send.
     */
    private static final int LAST_READS = 256;

    private final SocketChannel channel;
    private final EventLoop loop;
    private final EngineLoops loops;
    private final LoopResources resources;
    private final NetSettings settings;
    private final RecentInput.Source inputSource = this::takeInput;
    private final TcpClosing closing;
    private final StallWatch fpduWatch;
    private final ConnectionInput connectionInput;
    private final TlsLink link;
    private final TcpOutput output;
    private final int descriptor;
    private final boolean toldAgain;
    private final DeferredTask secondRead;

    private @Nullable MpaConnection connection;
    private boolean reading;
    private boolean aborted;
    private boolean lost;

    TcpTransport(SocketChannel channel, EngineLoops loops) {
        this.channel = channel;
        this.loop = channel.eventLoop();
        this.loops = loops;
        this.resources = loops.resources(loop);
        this.settings = loops.settings();
        this.closing = new TcpClosing(
                channel,
                settings,
                () -> loseTo(PeerLimit.LINGER, "the peer did not close its side in time"),
                this::onLastOutputStalls);
        this.fpduWatch = new StallWatch(
                loop,
                settings.stallTimeout(),
                this::fpduProgress,
                () -> endIncompleteFpdu("for " + OutputStall.limit(settings)));
        this.connectionInput =
                new ConnectionInput(resources, () -> endIncompleteFpdu("while others needed its memory"));
        this.link = new TlsLink(this, loop, loops, resources, connectionInput);
        this.output = new TcpOutput(this, channel, resources, settings, closing);
        this.descriptor = SocketWriter.descriptor(channel);
        this.toldAgain = EngineLoops.tellsAgain(channel);
        this.secondRead = new DeferredTask(loop, 1, this::takeInput);
        SocketOptions.apply(channel, settings, link::target);
    }

    /**
     * Takes over a TCP connection that has carried other data (RFC 5044 sections 7.1 and 7.1.5). MPA begins with the
     * next byte in each direction, behind everything that the caller has written. Call this on the channel's event
     * loop.
     *
     * @param channel connected, of one of the given loops, without the handlers that read the other data
     * @param surplus bytes that were read already and belong to MPA; released here
     * @param onAdopted must bind the transport and start MPA; called before any byte moves
     */
    public static void adopt(
            EngineLoops loops, SocketChannel channel, ByteBuf surplus, Consumer<TcpTransport> onAdopted) {
        if (!loops.owns(channel.eventLoop())) {
            throw new IllegalArgumentException("the channel belongs to another event loop: " + channel);
        }
        TcpTransport transport = new TcpTransport(channel, loops);
        channel.pipeline().addLast(transport);
        onAdopted.accept(transport);
        transport.receive(surplus);
        transport.receiveDone();
        if (channel.isInputShutdown()) {
            transport.onInputShutdown();
        }
    }

    /** Sets the state machine above. Call this before any byte moves. */
    public void bind(MpaConnection newConnection) {
        connection = newConnection;
        output.begin();
        CongestionControl.applyConnected(channel, settings.congestionControl());
    }

    /** Returns the state machine above, or null before {@link #bind}. */
    @Nullable
    MpaConnection connection() {
        return connection;
    }

    // TLS.

    /** Sets what happens when the first byte of the peer begins TLS instead of MPA. Call this before any byte moves. */
    public void detectTls(TlsDetector detector) {
        link.detect(detector);
    }

    /** Begins TLS. Call this before any byte moves. MPA must not start before {@link TlsListener#onTlsSecured}. */
    public void beginTls(TlsStart start) {
        link.begin(start);
    }

    /** Ends the handshake if the peer has not answered. Then it may be a peer without TLS. */
    public void endSilentTls() {
        TlsStream tls = link.stream();
        if (tls != null && !tls.isAnswered()) {
            lose("the peer did not answer");
            abort();
        }
    }

    /** Returns TLS, or null for a connection without TLS. */
    @Nullable
    TlsStream tls() {
        return link.stream();
    }

    /** Returns the values of TLS, or null without TLS and before the handshake is complete. */
    public @Nullable TlsAttributes tlsAttributes() {
        return link.attributes();
    }

    /** Returns whether TLS has begun and its handshake is not complete. */
    public boolean isHandshaking() {
        return link.isHandshaking();
    }

    /**
     * Ends the connection because of TLS.
     *
     * @param wasSecured whether the handshake was complete
     */
    void onTlsFailed(TlsFailure failure, boolean wasSecured) {
        if (lost || aborted) {
            return;
        }
        if (wasSecured || failure.kind() == TlsFailure.Kind.NOT_TLS) {
            lose(failure.message());
            abort();
        } else {
            // An alert may follow.
            close();
        }
    }

    /** Takes input that TLS has kept. */
    void resumeInput(Runnable take) {
        try {
            reading = true;
            take.run();
            receiveDone();
        } catch (RuntimeException | Error e) {
            failHere(e);
        } finally {
            reading = false;
        }
    }

    /** Returns whether input is being delivered. Output that is requested meanwhile follows the input. */
    boolean isReading() {
        return reading;
    }

    /** Returns whether the connection is over. */
    boolean isLost() {
        return lost;
    }

    /** Returns the loop that owns this connection. */
    public EventLoop loop() {
        return loop;
    }

    public InetSocketAddress localAddress() {
        return channel.localAddress();
    }

    public InetSocketAddress remoteAddress() {
        return channel.remoteAddress();
    }

    /** Runs a task on the loop when the socket is closed. */
    public void onClosed(Runnable task) {
        channel.closeFuture().addListener(ignored -> task.run());
    }

    // Input.

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        receive((ByteBuf) message);
    }

    private void receive(ByteBuf input) {
        try {
            reading = true;
            long now = System.nanoTime();
            closing.onInput(now);
            if (connection == null) {
                return;
            }
            link.onInput(input);
            TlsStream tls = link.stream();
            if (tls != null) {
                noteInput(link.receive(tls, input, descriptor), now);
            } else if (connectionInput.isBehind(input)) {
                int octets = input.writerIndex() - connectionInput.end();
                connectionInput.deliver(connection, input.writerIndex());
                noteInput(octets, now);
            } else {
                connectionInput.deliverOther(connection, input);
            }
        } finally {
            input.release();
        }
    }

    private void noteInput(int octets, long nanoTime) {
        // While the socket is full, the loop must ask epoll, which also reports room for output.
        if (descriptor != SocketWriter.NO_DESCRIPTOR && !output.isPending()) {
            RecentInput.ofThisLoop().onInput(inputSource, octets, nanoTime);
        }
    }

    /** Reads input without a channel event: see {@link RecentInput.Source}. */
    private boolean takeInput() {
        if (connection == null
                || link.isUndecided()
                || lost
                || descriptor == SocketWriter.NO_DESCRIPTOR
                || !channel.isOpen()) {
            return false;
        }
        try {
            reading = true;
            TlsStream tls = link.stream();
            int octets = tls == null ? connectionInput.read(connection, descriptor) : link.read(tls, descriptor);
            if (octets > 0) {
                long now = System.nanoTime();
                closing.onInput(now);
                noteInput(octets, now);
                receiveDone();
            }
            return octets > 0;
        } catch (IOException e) {
            fail(e);
        } catch (RuntimeException | Error e) {
            failHere(e);
        } finally {
            reading = false;
        }
        return false;
    }

    /** Returns the bytes of the complete FPDUs before the incomplete one. */
    private long fpduProgress() {
        return connection != null && connection.isInsideFpdu() ? connection.receivedPosition() : StallWatch.NOT_WAITING;
    }

    private void endIncompleteFpdu(String how) {
        loseTo(PeerLimit.INCOMPLETE_FPDU, "the peer left an FPDU incomplete " + how);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        receiveDone();
        if (toldAgain && connectionInput.isFilled()) {
            secondRead.request();
        }
    }

    private void receiveDone() {
        reading = false;
        if (connection != null) {
            connection.receiveDone();
            fpduWatch.begin();
        }
        output.onInputDone();
        resources.reassembly().keepWithinLimit();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent && !link.holdsFin()) {
            onInputShutdown();
        }
    }

    /** Handles the peer's FIN. */
    void onInputShutdown() {
        TlsStream tls = link.stream();
        if (tls != null && !tls.onInputShutdown()) {
            lose("the peer closed the TCP connection without the end of its TLS stream; data may be missing");
            abort();
        } else if (endInput() || tls != null) {
            EngineLoops.tellOnce(channel);
        }
    }

    /** Handles the end of the peer's data. Returns whether it was not known before. */
    boolean endInput() {
        boolean news = closing.onInputShut();
        if (news) {
            if (connection != null && !isHandshaking()) {
                connection.receiveEnd();
            }
            finishClose();
        }
        return news;
    }

    /** Follows every close. Earlier Netty events do not report a close right after {@link EngineLoops#tellOnce}. */
    @Override
    public void channelUnregistered(ChannelHandlerContext context) {
        if (lost || channel.isOpen()) {
            return;
        }
        if (aborted || closing.isComplete()) {
            lost = true;
            releaseAll();
            if (connection != null && !isHandshaking()) {
                connection.closed();
            }
        } else {
            lose("the TCP connection was closed by the peer or the network");
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // Netty wraps the cause of a failed pending write into this exception.
        Throwable reason = cause instanceof ChannelOutputShutdownException ? cause.getCause() : cause;
        if (reason instanceof IOException failure) {
            failOutput(failure);
        } else {
            failHere(cause);
        }
    }

    void failHere(Throwable cause) {
        loops.onFault(cause);
        lose("this side failed: " + cause);
        abort();
    }

    /**
     * Ends the connection when the socket takes no more output. The input that the peer sent before it reset the
     * connection can still be read, and comes first. It may be the Terminate that says why (RFC 5040 sections 5.4 and
     * 6.2.2).
     */
    void failOutput(IOException cause) {
        if (aborted) {
            // The abort removed the output from the socket; the channel reports the close.
            return;
        }
        int reads = LAST_READS;
        while (reads > 0 && takeInput()) {
            reads--;
        }
        fail(cause);
    }

    private void fail(IOException cause) {
        lose("the TCP connection failed: " + SystemErrors.text(cause));
        channel.close();
    }

    void loseTo(PeerLimit limit, String cause) {
        if (!lost) {
            loops.onLimit(limit);
        }
        lose(cause);
        abort();
    }

    private void lose(String cause) {
        if (!lost) {
            lost = true;
            releaseAll();
            link.onLost(cause);
            // MPA has not begun before the handshake is complete.
            if (connection != null && !isHandshaking()) {
                connection.receiveLost(cause);
            }
        }
    }

    // Output.

    @Override
    public void requestOutput() {
        output.request();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        output.onWritability();
    }

    /** Releases all resources of the loop that this connection holds. The connection is over. */
    private void releaseAll() {
        fpduWatch.end();
        closing.end();
        RecentInput.ofThisLoop().forget();
        connectionInput.release();
        link.release();
        // After a loss, Netty may still hold the buffer for a moment.
        output.end(!lost);
    }

    // Teardown.

    @Override
    public void shutdownOutput() {
        link.close();
        output.onFin();
        closing.wantFin();
        finishClose();
    }

    @Override
    public void close() {
        closing.refuseInput();
        shutdownOutput();
    }

    @Override
    public void abort() {
        aborted = true;
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            channel.close();
        }
    }

    /** Continues a close as far as possible. */
    void finishClose() {
        if (!output.isDriving() && !lost) {
            closing.proceed(output.isDone());
        }
    }

    private void onLastOutputStalls() {
        loseTo(
                PeerLimit.STALL,
                "the peer acknowledged nothing for " + OutputStall.limit(settings)
                        + " of what was sent before the close; its program has to read, or the limit has to be higher");
    }

    // Facts.

    @Override
    public int emss() {
        return output.emss();
    }

    @Override
    public WireBuffer acquireReassembly(int capacity) {
        return connectionInput.acquireReassembly(capacity);
    }

    @Override
    public WireBuffer growReassembly(WireBuffer buffer, int held, int capacity) {
        return connectionInput.growReassembly(buffer, held, capacity);
    }

    @Override
    public void releaseReassembly(WireBuffer buffer) {
        connectionInput.releaseReassembly(buffer);
    }
}
