// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** Small inputs for images: a few files in each place. */
final class Fixture {
    static final String VERSION = "1.2.3";

    private static final List<String> FILES = List.of(
            "repository/images/files/etc/passwd",
            "repository/sidecar/cli/target/sidewarp-cli.jar",
            "repository/tools/jvm/program.args",
            "repository/tools/jvm/sidecar.args",
            "repository/sidecar/cli/target/lib/grpc-api-1.jar",
            "repository/sidecar/cli/target/lib/picocli-4.jar",
            "repository/sidecar/service/target/quarkus-app/lib/main/io.grpc.grpc-api-1.jar",
            "packages/base/lib/x86_64-linux-gnu/libc.so.6",
            "packages/rdma/usr/lib/x86_64-linux-gnu/libibverbs.so.1",
            "work/sidecar.jsa",
            "work/node-agent.jsa",
            "work/verbs/libsidewarp-verbs.so",
            "java/lib/modules",
            "java/bin/java");

    private Fixture() {}

    /** Makes inputs in a directory. All files have the given time, and permissions that follow from the given umask. */
    static Inputs create(Path directory, FileTime time, String permissions) throws IOException {
        for (String file : FILES) {
            // Jars with the same name have the same content.
            write(directory.resolve(file), file.replaceAll(".*[/.]", ""), time, permissions);
        }
        Path repository = directory.resolve("repository");
        for (Program program : Program.values()) {
            Path packaged = program.packaged(repository);
            write(packaged.resolve("quarkus-run.jar"), program.imageName(), time, permissions);
            write(packaged.resolve("lib/main/io.sidewarp.own-1.jar"), "own", time, permissions);
            write(packaged.resolve("lib/boot/org.foreign-1.jar"), "foreign", time, permissions);
        }
        Files.setPosixFilePermissions(directory.resolve("java/bin/java"), PosixFilePermissions.fromString("rwx------"));
        Files.createSymbolicLink(directory.resolve("work/verbs/libibverbs.so.1"), Path.of("libsidewarp-verbs.so"));
        return new Inputs(
                repository,
                directory.resolve("packages"),
                directory.resolve("java"),
                VERSION,
                Files.createDirectories(directory.resolve("work")));
    }

    private static void write(Path file, String content, FileTime time, String permissions) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        Files.setLastModifiedTime(file, time);
    }
}
