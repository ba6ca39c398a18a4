// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.channel.unix.Errors;
import io.sidewarp.engine.verbs.TlsAttributes;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Place of TLS in a TCP connection: nothing, a decision that the first byte of the peer makes, or a stream. */
final class TlsLink {

    /** First byte of a TLS connection: the type of a handshake record (RFC 8446 section 5.1). */
    private static final byte HANDSHAKE = 0x16;

    private final TcpTransport transport;
    private final EventLoop loop;
    private final EngineLoops loops;
    private final LoopResources resources;
    private final ConnectionInput input;
    private @Nullable TlsDetector detector;
    private @Nullable TlsStream stream;

    TlsLink(TcpTransport transport, EventLoop loop, EngineLoops loops, LoopResources resources, ConnectionInput input) {
        this.transport = transport;
        this.loop = loop;
        this.loops = loops;
        this.resources = resources;
        this.input = input;
    }

    /** Lets the first byte of the peer decide. */
    void detect(TlsDetector newDetector) {
        detector = newDetector;
    }

    /** Returns whether the first byte of the peer is to decide and has not arrived. */
    boolean isUndecided() {
        return detector != null;
    }

    void begin(TlsStart start) {
        TlsStream begun = new TlsStream(
                transport, loop, input, resources.tls(), loops, start.credentials(), start.engine(), start.listener());
        stream = begun;
        begun.begin();
    }

    /** Decides by the first input of the peer. */
    void onInput(ByteBuf first) {
        TlsDetector asked = detector;
        if (asked == null || !first.isReadable()) {
            return;
        }
        detector = null;
        TlsStart start = first.getByte(first.readerIndex()) == HANDSHAKE ? asked.onTls() : null;
        if (start != null) {
            begin(start);
        }
    }

    /** Returns the stream, or null for a connection without TLS. */
    @Nullable
    TlsStream stream() {
        return stream;
    }

    @Nullable
    TlsAttributes attributes() {
        return stream == null ? null : stream.attributes();
    }

    /** Returns whether TLS has begun and its handshake is not complete. */
    boolean isHandshaking() {
        return stream != null && !stream.isSecured();
    }

    /** Returns whether the peer's FIN waits for input that TLS holds. */
    boolean holdsFin() {
        return stream != null && stream.holdsFin();
    }

    /** Returns the view for a channel to read into. It has one reference for the channel. */
    ByteBuf target() {
        return stream == null ? input.target() : resources.tls().input().forReading();
    }

    /**
     * Takes what the channel has read, and what is behind it in the socket.
     *
     * @param descriptor of the connection's socket, or {@link SocketWriter#NO_DESCRIPTOR}
     * @return bytes of both
     */
    int receive(TlsStream into, ByteBuf first, int descriptor) {
        TlsBuffers buffers = resources.tls();
        int octets = first.readableBytes();
        first.readBytes(buffers.work().position(TlsBuffers.MAX_HELD).limit(TlsBuffers.MAX_HELD + octets));
        if (octets == TlsBuffers.RECORD_ROOM && descriptor != SocketWriter.NO_DESCRIPTOR) {
            // The channel detects errors and the end of the peer's data.
            octets += Math.max(0, resources.socketCalls().receive(descriptor, buffers.rest()));
        }
        into.take(octets);
        return octets;
    }

    /**
     * Reads records without a channel.
     *
     * @param descriptor of the connection's socket
     * @return bytes read, 0 when there were none
     */
    int read(TlsStream into, int descriptor) throws IOException {
        int octets = resources.socketCalls().receive(descriptor, resources.tls().room());
        if (octets > 0) {
            into.take(octets);
        }
        return octets >= 0 ? octets : Errors.ioResult("recv", octets);
    }

    /** Requests a close_notify behind the output so far. */
    void close() {
        if (stream != null) {
            stream.close();
        }
    }

    /** Handles the end of the TCP connection before the end of the TLS stream. */
    void onLost(String cause) {
        if (stream != null) {
            stream.onLost(cause);
        }
    }

    /** Releases what belongs to the loop. */
    void release() {
        if (stream != null) {
            stream.release();
        }
    }
}
