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
 * A gRPC server on a Unix socket. The socket is bound under a name of its own and then moved to its place, with mode 0600,
 * in place of what a process that was killed has left there. So there is no moment in which the file is there and nobody
 * listens, and this server never removes the socket of a successor.
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
     * Serves at a path, also when another process does so: its socket is replaced, and it keeps the connections it has.
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

    /** Whether the path still leads here: false when the file is gone or another's. */
    public boolean holdsSocket() {
        try {
            // The inode of a bound socket is not given to another file as long as the socket is open.
            return inode.equals(inode(socket));
        } catch (IOException e) {
            return false;
        }
    }

    /** Takes no more calls, and cancels those that have not ended after some time. Removes the socket. */
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

    /** As long as the server has not let go of its inode, which the file system might give to a successor's socket. */
    private void removeSocket() {
        if (holdsSocket()) {
            try {
                Files.deleteIfExists(socket);
            } catch (IOException e) {
                // A file without a listener is what the next start expects to find.
                System.getLogger(UnixServer.class.getName())
                        .log(System.Logger.Level.WARNING, "cannot remove the socket " + socket, e);
            }
        }
    }

    private static Object inode(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }
}
