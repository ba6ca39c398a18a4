// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Distinguishes a socket at a path from a later socket at the same path. A file system may reuse a free inode number
 * for the next file; the time of change then differs.
 *
 * @param inode number of the inode
 * @param changed time of the last change of the inode
 */
public record SocketFile(Object inode, Object changed) {

    /** Returns the file that is at a path now; empty if there is none. */
    public static Optional<SocketFile> at(Path path) {
        try {
            return Optional.of(new SocketFile(
                    Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS),
                    Files.getAttribute(path, "unix:ctime", LinkOption.NOFOLLOW_LINKS)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns whether a process listens at a path. */
    public static boolean served(Path path) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(path));
        } catch (IOException e) {
            return false;
        }
    }
}
