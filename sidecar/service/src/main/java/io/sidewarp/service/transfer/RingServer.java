// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.server.Transports;
import io.sidewarp.service.server.UnixSocketFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Unix socket through which applications and the sidecar wake each other for rings. A connection names its completion
 * ring by a token. Then the connection moves to the event loop of that ring. A connection that opens a session instead
 * gets a handler of the control socket. Thread-safe.
 */
public final class RingServer implements AutoCloseable {

    /** Suffix that is added to the name of the API's socket. */
    public static final String SUFFIX = ".rings";

    private final Transports transports;
    private final Path path;
    private final int mode;
    private final SecureRandom random = new SecureRandom();
    private final Map<ByteBuffer, CompletionRingWriter> expected = new ConcurrentHashMap<>();
    private volatile @Nullable Supplier<ChannelHandler> control;
    private @Nullable UnixSocketFile socket;
    private @Nullable Channel channel;

    /**
     * @param api path of the API's socket
     * @param mode permission bits, the same as of the API's socket
     */
    public RingServer(Transports transports, Path api, int mode) {
        this.transports = transports;
        this.path = api.resolveSibling(api.getFileName() + SUFFIX);
        this.mode = mode;
    }

    /** Binds the socket. */
    public void start() throws IOException {
        UnixSocketFile file = new UnixSocketFile(path, mode);
        socket = file;
        Path bound = file.prepare();
        channel = new ServerBootstrap()
                .group(transports.group())
                .channel(transports.unixServer())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        child.pipeline().addLast(new RingSocketHandler(RingServer.this));
                    }
                })
                .bind(transports.unixAddress(bound))
                .syncUninterruptibly()
                .channel();
        file.publish();
    }

    /** Returns the name of the socket, in the directory of the API's socket. */
    public String name() {
        return path.getFileName().toString();
    }

    /** Sets the source of handlers for connections that open a session. */
    public void control(Supplier<ChannelHandler> handlers) {
        control = handlers;
    }

    /** Returns a handler for a connection that opens a session; null while the sidecar starts. */
    @Nullable
    ChannelHandler newControl() {
        Supplier<ChannelHandler> handlers = control;
        return handlers == null ? null : handlers.get();
    }

    byte[] newToken() {
        byte[] token = new byte[RingRecord.TOKEN_LENGTH];
        random.nextBytes(token);
        return token;
    }

    /** Gives the ring to the first connection that sends its token. */
    void expect(CompletionRingWriter ring) {
        expected.put(ByteBuffer.wrap(ring.token()), ring);
    }

    /** Forgets a token that may be unused. */
    void forget(CompletionRingWriter ring) {
        expected.remove(ByteBuffer.wrap(ring.token()));
    }

    /** Returns the ring of a token. A token is valid once. */
    @Nullable
    CompletionRingWriter take(byte[] token) {
        return expected.remove(ByteBuffer.wrap(token));
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close().syncUninterruptibly();
        }
        if (socket != null) {
            socket.close();
        }
    }
}
