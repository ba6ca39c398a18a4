// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The Java runtime of the images: those modules of the JDK that runs this program which the programs use. */
final class JavaRuntime {
    /**
     * What the classes of the programs and of their libraries refer to; and jdk.net and jdk.zipfs, which are found by
     * name. Without java.desktop, java.rmi and the compiler: libraries refer to those for what the programs do not ask of them.
     */
    private static final List<String> MODULES = List.of(
            "java.base",
            "java.logging",
            "java.management",
            "java.naming",
            "java.net.http",
            "java.sql",
            "java.xml",
            "jdk.httpserver",
            "jdk.jfr",
            "jdk.management",
            "jdk.net",
            "jdk.unsupported",
            "jdk.zipfs");

    /** Classes laid out for heaps beyond 32 GB, which none of the programs has. */
    private static final String FOR_LARGE_HEAPS = "lib/server/classes_nocoops.jsa";

    private JavaRuntime() {}

    /** Makes the runtime in a directory that does not exist yet. Its classes are laid out as a JVM maps them. */
    static void link(Path directory) {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "jlink").toString(),
                "--add-modules",
                String.join(",", MODULES),
                "--strip-java-debug-attributes",
                "--no-header-files",
                "--no-man-pages",
                "--generate-cds-archive",
                "--output",
                directory.toString());
        try {
            Process jlink =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            jlink.getOutputStream().close();
            String output = new String(jlink.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (jlink.waitFor() != 0) {
                throw new ImageException("jlink cannot make a Java runtime: " + output.strip());
            }
            Files.deleteIfExists(directory.resolve(FOR_LARGE_HEAPS));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + command.getFirst(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ImageException("interrupted");
        }
    }
}
