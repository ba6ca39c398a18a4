// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.server;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * File of a Unix socket. The socket is bound inside a directory that only this user can enter, and gets its mode there.
 * An atomic move then puts it at its final path. Nobody can connect before the mode is set, and a stale socket is
 * replaced without a gap.
 */
public final class UnixSocketFile implements AutoCloseable {

    private static final int TYPE_MASK = 0xF000;
    private static final int TYPE_SOCKET = 0xC000;

    /** Name of the socket inside the temporary directory. */
    private static final String BOUND = "s";

    /** Maximum number of names that are tried for the temporary directory. */
    private static final int ATTEMPTS = 100;

    private final Path path;
    private final int mode;
    private @Nullable Path directory;
    private @Nullable Object fileKey;

    /** @param mode permission bits */
    public UnixSocketFile(Path path, int mode) {
        this.path = path;
        this.mode = mode;
    }

    /**
     * Checks that the path is free, or that its socket is stale.
     *
     * @return where to bind
     */
    public Path prepare() throws IOException {
        Path parent = Objects.requireNonNull(path.getParent(), "the socket needs a directory");
        Files.createDirectories(parent);
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            checkStale();
        }
        directory = createDirectory(parent);
        return directory.resolve(BOUND);
    }

    /**
     * Creates a directory with a short name, so that nearly every path that fits into a socket address can be served.
     */
    private static Path createDirectory(Path parent) throws IOException {
        var attribute = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Path candidate = parent.resolve(randomName());
            try {
                return Files.createDirectory(candidate, attribute);
            } catch (FileAlreadyExistsException e) {
                // Another process is about to serve here, or was killed before it removed the directory.
            }
        }
        throw new IOException(parent + " is full of directories such as " + randomName()
                + ", left by processes that were killed; remove those that are empty");
    }

    /** Returns a dot and three random letters. */
    private static String randomName() {
        StringBuilder name = new StringBuilder(".");
        ThreadLocalRandom.current().ints(3, 'a', 'z' + 1).forEach(name::appendCodePoint);
        return name.toString();
    }

    /** Moves the bound socket to its final path, and replaces a stale one. */
    public void publish() throws IOException {
        Path bound = Objects.requireNonNull(directory).resolve(BOUND);
        Files.setAttribute(bound, "unix:mode", mode);
        fileKey = key(bound);
        Files.move(bound, path, StandardCopyOption.ATOMIC_MOVE);
        removeDirectory();
    }

    /** Removes the socket and its directory, unless the path belongs to another process by now. */
    @Override
    public void close() throws IOException {
        removeDirectory();
        if (fileKey != null && Files.exists(path, LinkOption.NOFOLLOW_LINKS) && fileKey.equals(key(path))) {
            Files.delete(path);
        }
    }

    private void removeDirectory() throws IOException {
        if (directory != null) {
            Files.deleteIfExists(directory.resolve(BOUND));
            Files.deleteIfExists(directory);
            directory = null;
        }
    }

    private void checkStale() throws IOException {
        int fileMode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if ((fileMode & TYPE_MASK) != TYPE_SOCKET) {
            throw new IOException(path + " exists and is no socket; remove it, or set sidewarp.api.socket elsewhere");
        }
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.connect(UnixDomainSocketAddress.of(path));
        } catch (ConnectException e) {
            // No process answers: the socket was left by a process that was killed.
            return;
        }
        throw new IOException(path + " is served by another process; stop it, or set sidewarp.api.socket elsewhere");
    }

    private static Object key(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }
}
