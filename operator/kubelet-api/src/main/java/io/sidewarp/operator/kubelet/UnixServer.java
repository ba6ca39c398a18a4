// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.kubelet;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A gRPC server on a Unix socket. The socket is bound under a temporary name with mode 0600, and then moved to its
 * place. The move replaces the socket that a killed process has left there. So the file never exists without a
 * listener, and this server never removes the socket of a successor.
 */
public final class UnixServer implements AutoCloseable {

    private static final long CANCEL_SECONDS = 2;

    private final Server server;
    private final Path socket;
    private final Object inode;

    private UnixServer(Server server, Path socket, Object inode) {
        this.server = server;
        this.socket = socket;
        this.inode = inode;
    }

    /**
     * Starts a server at a path. If another process serves there, its socket is replaced, and that process keeps its
     * present connections.
     *
     * @throws IOException when the directory is missing, not writable, or the path too long for a socket
     */
    public static UnixServer start(UnixTransport transport, Path socket, List<? extends BindableService> services)
            throws IOException {
        Path bound = socket.resolveSibling(
                "." + socket.getFileName() + "." + ProcessHandle.current().pid());
        Files.deleteIfExists(bound);
        NettyServerBuilder builder = transport.server(bound);
        services.forEach(builder::addService);
        Server server = builder.build().start();
        try {
            Files.setPosixFilePermissions(bound, PosixFilePermissions.fromString("rw-------"));
            Files.move(bound, socket, StandardCopyOption.ATOMIC_MOVE);
            return new UnixServer(server, socket, inode(socket));
        } catch (IOException e) {
            server.shutdownNow();
            throw e;
        }
    }

    /** Returns whether the path still leads to this server. False if the file is gone or belongs to another server. */
    public boolean holdsSocket() {
        try {
            // The inode of a bound socket is not given to another file as long as the socket is open.
            return inode.equals(inode(socket));
        } catch (IOException e) {
            return false;
        }
    }

    /** Removes the socket, and accepts no more calls. Calls that have not ended in time are cancelled. */
    public void close(Duration patience) {
        removeSocket();
        server.shutdown();
        try {
            if (!server.awaitTermination(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                server.shutdownNow().awaitTermination(CANCEL_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        close(Duration.ZERO);
    }

    /**
     * Removes the socket. The server must still hold its inode, because the file system might give a free inode to a
     * successor's socket.
     */
    private void removeSocket() {
        if (holdsSocket()) {
            try {
                Files.deleteIfExists(socket);
            } catch (IOException e) {
                // The next start replaces a file without a listener.
                System.getLogger(UnixServer.class.getName())
                        .log(System.Logger.Level.WARNING, "cannot remove the socket " + socket, e);
            }
        }
    }

    private static Object inode(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }
}
