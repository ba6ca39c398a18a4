// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Tells one socket at a path from a later one. A file system gives an inode that became free to the next file; the time of
 * the change tells the two apart.
 *
 * @param inode number of the inode
 * @param changed when the inode was changed
 */
record SocketFile(Object inode, Object changed) {

    /** What is at a path now. */
    static Optional<SocketFile> at(Path path) {
        try {
            return Optional.of(new SocketFile(
                    Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS),
                    Files.getAttribute(path, "unix:ctime", LinkOption.NOFOLLOW_LINKS)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether a process listens at a path. */
    static boolean served(Path path) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(path));
        } catch (IOException e) {
            return false;
        }
    }
}
