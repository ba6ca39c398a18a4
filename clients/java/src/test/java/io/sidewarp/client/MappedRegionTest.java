// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedRegionTest {

    @TempDir
    private Path directory;

    @Test
    void fileThatThisUserMayNotOpenIsToldWithItsOwnerAndTheRemedy() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
        Object owner = Files.getAttribute(file, "unix:uid");
        Object group = Files.getAttribute(file, "unix:gid");

        SidewarpException failure = MappedRegion.failure("file", new AccessDeniedException(file.toString()));

        assertThat(failure.code()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(failure)
                .hasMessage("the sidecar registered \"file\", but this process cannot map it: permission denied for "
                        + file
                        + ", which belongs to user " + owner + " and group " + group + " and has mode 0660; run as a"
                        + " member of the file's group, in a pod by fsGroup or supplementalGroups");
    }

    @Test
    void interruptionWhileTheFileIsMappedIsCancellation() {
        SidewarpException failure = MappedRegion.failure("file", new ClosedByInterruptException());

        assertThat(failure.code()).isEqualTo(Status.Code.CANCELLED);
        assertThat(failure).hasMessage("the waiting thread was interrupted");
    }
}
