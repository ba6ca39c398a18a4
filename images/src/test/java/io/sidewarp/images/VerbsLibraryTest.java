// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerbsLibraryTest {
    @TempDir
    private Path directory;

    private Path library(String versions) throws IOException {
        return Files.write(directory.resolve("library.so"), versions.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GLIBC_2.2.5\0GLIBC_2.34\0", "\u00e9GLIBC_2.9 GLIBC_PRIVATE"})
    void aLibraryForGlibcOfMostImagesIsAccepted(String versions) throws IOException {
        Path library = library(versions);

        assertThatCode(() -> VerbsLibrary.check(library)).doesNotThrowAnyException();
    }

    @Test
    void aLibraryForANewerGlibcIsRefused() throws IOException {
        Path library = library("GLIBC_2.2.5\0GLIBC_2.38\0GLIBC_2.4\0");

        assertThatThrownBy(() -> VerbsLibrary.check(library))
                .isInstanceOf(ImageException.class)
                .hasMessageContaining("needs glibc 2.38, and images of applications have 2.34 or later");
    }
}
