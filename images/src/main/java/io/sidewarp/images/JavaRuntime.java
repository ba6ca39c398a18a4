// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.nio.file.Path;
import java.util.ArrayList;
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

    /**
     * Of a JVM that archives classes. Without them the archive would depend on the memory and the processors of the machine
     * that makes it, and from one of more than 128 GB be of no use to the heaps of the programs.
     */
    static final List<String> ARCHIVE_FLAGS = List.of("-Xshare:dump", "-XX:+UseSerialGC", "-Xmx256m");

    private JavaRuntime() {}

    /** Makes the runtime in a directory that does not exist yet. Its classes are laid out as a JVM maps them. */
    static void link(Path directory) {
        Path here = Path.of(".");
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "jlink").toString(),
                "--add-modules",
                String.join(",", MODULES),
                "--strip-java-debug-attributes",
                "--no-header-files",
                "--no-man-pages",
                "--output",
                directory.toString());
        JavaProgram.run(command, here, "jlink cannot make a Java runtime");
        List<String> archive = new ArrayList<>(List.of(java(directory)));
        archive.addAll(ARCHIVE_FLAGS);
        JavaProgram.run(archive, here, "java cannot archive its classes");
    }

    /** The program {@code java} of a runtime. */
    static String java(Path directory) {
        return directory.resolve("bin/java").toString();
    }
}
