// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;

/** Makes small Java runtimes for guests from the runtime of the tests. */
final class JavaRuntimes {

    private JavaRuntimes() {}

    /** @param directory that does not exist yet */
    static void link(Path directory, String modules) {
        List<String> command = List.of(
                Path.of(Programs.java()).resolveSibling("jlink").toString(),
                "--add-modules",
                modules,
                "--strip-debug",
                "--no-header-files",
                "--no-man-pages",
                "--output",
                directory.toString());
        try (OwnedProcess jlink = OwnedProcess.start("jlink", command)) {
            assertThat(jlink.awaitExit(Patience.LONG_LIMIT)).as(jlink.text()).isZero();
        }
    }
}
