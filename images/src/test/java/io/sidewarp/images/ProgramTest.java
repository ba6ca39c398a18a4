// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ProgramTest {

    private static final Path ROOT = Path.of("..");
    private static final long MEBIBYTE = 1 << 20;

    /** An idle sidecar has about 100 MiB resident. Most of them are classes, code and stacks. */
    private static final long REST = 200 * MEBIBYTE;

    @Test
    void heapDirectMemoryAndManagedRegionsFitIntoTheMemoryOfAnInjectedSidecar() throws IOException {
        String flags = String.join(" ", Program.SIDECAR.entryPoint(ROOT));
        long heap = number("-Xmx(\\d+)m ", flags) * MEBIBYTE;
        long direct = number("-XX:MaxDirectMemorySize=(\\d+)m ", flags) * MEBIBYTE;
        // A test of the service compares this table with the settings.
        long managed = number(
                "`sidewarp.limits.managed-octets` \\| `(\\d+)`", Files.readString(Path.of("../docs/configuration.md")));
        long container = 1024
                * MEBIBYTE
                * number(
                        "limit\\s+of\\s+memory\\s+is\\s+(\\d+)Gi\\s+plus\\s+the\\s+size",
                        Files.readString(Path.of("../docs/operations.md")));

        assertThat(heap + direct + managed + REST).isLessThanOrEqualTo(container);
    }

    @Test
    void sidecarAndItsCommandHaveTheOptimisingCompilerLate() {
        assertThat(Program.SIDECAR.entryPoint(ROOT))
                .containsAll(JvmFlags.lateC2(ROOT))
                .noneMatch(flag -> flag.contains("TieredStopAtLevel"));
        assertThat(SidecarCommand.flags(ROOT))
                .containsAll(JvmFlags.lateC2(ROOT))
                .endsWith("-jar")
                .noneMatch(flag -> flag.contains("TieredStopAtLevel"));
    }

    private static long number(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(pattern).isTrue();
        return Long.parseLong(matcher.group(1));
    }
}
