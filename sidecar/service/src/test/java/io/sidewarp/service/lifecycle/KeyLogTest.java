// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.TestSidecar;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the setting that writes the secrets of TLS connections to a file. */
class KeyLogTest {

    private static final String SETTING = "sidewarp.advanced.tls-key-log";

    @TempDir
    private Path directory;

    @Test
    void aKeyLogIsAnnouncedByAWarning() {
        Path file = directory.resolve("keys.log");
        try (LogLines lines = LogLines.of("io.sidewarp.engine.net.tls.TlsKeyLog");
                TestSidecar sidecar = TestSidecar.start(SETTING, file.toString())) {
            assertThat(file).isEmptyFile();
            assertThat(lines.all())
                    .anyMatch(line -> line.contains("The secrets of all TLS connections are written to " + file));
        }
    }

    @Test
    void aKeyLogThatCannotBeWrittenPreventsStart() {
        String file = directory.resolve("missing/keys.log").toString();
        assertThatThrownBy(() -> TestSidecar.start(SETTING, file))
                .isInstanceOf(StartFailedException.class)
                .hasMessageContainingAll(
                        SETTING,
                        file + " (no such file or directory); name a file in a directory that the sidecar may write");
    }
}
