// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The Java runtime of the images. It has those modules of the running JDK that the programs use. */
final class JavaRuntime {
    /**
     * Modules that the classes of the programs and of their libraries refer to. The modules jdk.net and jdk.zipfs are
     * added, since they are found by name. The modules java.desktop, java.rmi and the compiler are left out: libraries
     * refer to them only for features that the programs do not use.
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
     * Flags of a JVM that archives classes. Without the flags the archive would depend on the memory and processors of
     * the build machine. An archive from a machine with more than 128 GB would not suit the heaps of the programs.
     */
    static final List<String> ARCHIVE_FLAGS = List.of("-Xshare:dump", "-XX:+UseSerialGC", "-Xmx256m");

    private JavaRuntime() {}

    /**
     * Makes the runtime in a directory that does not exist yet. Its classes are archived in the layout that a JVM maps.
     */
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

    /** Returns the path of the program {@code java} in a runtime. */
    static String java(Path directory) {
        return directory.resolve("bin/java").toString();
    }
}
