// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads the flags that programs have wherever they run: the argument files in tools/jvm. */
final class JvmFlags {

    private JvmFlags() {}

    /** Returns the flags of all programs. */
    static List<String> program(Path root) {
        return read(root.resolve("tools/jvm/program.args"));
    }

    /** Returns the flags that the sidecar adds. */
    static List<String> sidecar(Path root) {
        return read(root.resolve("tools/jvm/sidecar.args"));
    }

    /** Returns the sidecar's flags by which C2 starts late. */
    static List<String> lateC2(Path root) {
        return sidecar(root).stream()
                .filter(flag -> flag.startsWith("-XX:Tier4"))
                .toList();
    }

    private static List<String> read(Path file) {
        try {
            return Files.readAllLines(file).stream()
                    .filter(line -> line.startsWith("-"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the JVM's flags", e);
        }
    }
}
