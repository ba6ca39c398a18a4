// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchDirectoryTest {
    private static final String PREFIX = "scratch";
    private final FileTime longAgo = FileTime.from(Instant.now().minus(Duration.ofDays(1)));

    @TempDir
    private Path parent;

    @Test
    void isGoneWithItsFilesWhenItIsClosed() throws IOException {
        ScratchDirectory scratch = ScratchDirectory.create(parent, PREFIX);
        Files.writeString(Files.createDirectory(scratch.path().resolve("data")).resolve("file"), "text");

        scratch.close();

        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void whatADeadProcessHasLeftGoesWithTheNext() throws IOException {
        Path left = Files.createDirectory(parent.resolve(PREFIX + "1"));
        Files.writeString(left.resolve("lock"), "");
        Files.setLastModifiedTime(left, longAgo);
        Path earlier = Files.createDirectory(parent.resolve(PREFIX + "2"));
        Files.setLastModifiedTime(earlier, longAgo);

        try (ScratchDirectory scratch = ScratchDirectory.create(parent, PREFIX)) {
            assertThat(parent).isDirectoryNotContaining(path -> !path.equals(scratch.path()));
        }
    }

    @Test
    void oneThatIsInUseStays() throws IOException {
        try (ScratchDirectory used = ScratchDirectory.create(parent, PREFIX)) {
            Files.setLastModifiedTime(used.path(), longAgo);

            ScratchDirectory.create(parent, PREFIX).close();

            assertThat(used.path()).isDirectory();
        }
    }

    @Test
    void whatIsAboutToBeLockedAndWhatIsOfAnotherKindStay() throws IOException {
        Path young = Files.createDirectory(parent.resolve(PREFIX + "1"));
        Path other = Files.createDirectory(parent.resolve("other"));
        Files.setLastModifiedTime(other, longAgo);

        ScratchDirectory.create(parent, PREFIX).close();

        assertThat(young).isDirectory();
        assertThat(other).isDirectory();
    }
}
