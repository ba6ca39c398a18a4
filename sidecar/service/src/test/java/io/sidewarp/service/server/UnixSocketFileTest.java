// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnixSocketFileTest {

    @TempDir
    Path directory;

    @Test
    void theSocketHasExactlyTheModeWhenItAppears() throws IOException {
        Path path = directory.resolve("api.sock");
        try (UnixSocketFile file = new UnixSocketFile(path, 0660);
                ServerSocketChannel server = bind(file.prepare())) {
            assertThat(path).doesNotExist();

            file.publish();

            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                    .isEqualTo("rw-rw----");
            assertThat(server.isOpen()).isTrue();
            SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
        }
    }

    @Test
    void nothingIsLeftBehind() throws IOException {
        Path path = directory.resolve("sub").resolve("api.sock");
        try (UnixSocketFile file = new UnixSocketFile(path, 0600);
                ServerSocketChannel server = bind(file.prepare())) {
            file.publish();
            assertThat(server.isOpen()).isTrue();
        }

        assertThat(path.getParent()).isEmptyDirectory();
    }

    /** 106 octets is what the JDK's clients can connect to. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "api.sock"})
    void thePathMayBeAsLongAsAnAddressHolds(String name) throws IOException {
        int length = Math.min(106 - name.length() - 1, 99);
        Path parent = directory.resolve("d".repeat(length - directory.toString().length() - 1));
        Path path = parent.resolve(name);
        try (ServerSocketChannel left = bind(Files.createDirectories(parent).resolve(name))) {
            SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
            assertThat(left.isOpen()).isTrue();
        }
        // The leftover socket is tried, and replaced.
        try (UnixSocketFile file = new UnixSocketFile(path, 0600);
                ServerSocketChannel server = bind(file.prepare())) {
            file.publish();
            SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
            assertThat(server.isOpen()).isTrue();
        }

        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void aSocketThatNobodyServesIsReplaced() throws IOException {
        Path path = directory.resolve("api.sock");
        bind(path).close();
        assertThat(path).exists();

        try (UnixSocketFile file = new UnixSocketFile(path, 0660);
                ServerSocketChannel server = bind(file.prepare())) {
            file.publish();
            assertThat(server.isOpen()).isTrue();
            SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
        }
    }

    @Test
    void aSocketThatIsServedIsLeftAlone() throws IOException {
        Path path = directory.resolve("api.sock");
        try (ServerSocketChannel other = bind(path);
                UnixSocketFile file = new UnixSocketFile(path, 0660)) {
            assertThat(other.isOpen()).isTrue();
            assertThatThrownBy(file::prepare)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("served by another process");
        }
        assertThat(path).exists();
    }

    @Test
    void aFileThatIsNoSocketIsLeftAlone() throws IOException {
        Path path = Files.writeString(directory.resolve("api.sock"), "precious");

        try (UnixSocketFile file = new UnixSocketFile(path, 0660)) {
            assertThatThrownBy(file::prepare).hasMessageContaining("is no socket");
        }

        assertThat(path).hasContent("precious");
    }

    @Test
    void aSocketThatAnotherProcessPutInItsPlaceIsNotRemoved() throws IOException {
        Path path = directory.resolve("api.sock");
        try (UnixSocketFile file = new UnixSocketFile(path, 0660);
                ServerSocketChannel server = bind(file.prepare())) {
            file.publish();
            assertThat(server.isOpen()).isTrue();
            // Made before the old one goes, so that it has another inode.
            Path successor = directory.resolve("successor");
            bind(successor).close();
            Files.move(successor, path, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        }

        assertThat(path).exists();
    }

    private static ServerSocketChannel bind(Path path) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
    }
}
