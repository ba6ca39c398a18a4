// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The commands {@code sidewarp} and {@code sidewarp-verbs} in the sidecar's image. The commands share jars with the
 * sidecar where both have the same.
 */
final class SidecarCommand {
    private static final String DIRECTORY = Program.COMMANDS;
    private static final String JAR = DIRECTORY + "/sidewarp-cli.jar";
    private static final String MAIN_CLASS = "io.sidewarp.cli.Sidewarp";
    private static final String VERBS_CLASS = "io.sidewarp.cli.verbs.VerbsInstaller";

    /**
     * Flags for all commands, within the limits of the sidecar's container. C2 starts late, so that short commands do
     * without it; {@code cp} needs C2 for SHA-256.
     */
    static List<String> flags(Path root) {
        return Stream.of(
                        JvmFlags.program(root),
                        Program.CONTAINER_FLAGS,
                        List.of(Program.NETTY_FLAG, "-Xmx64m"),
                        JvmFlags.lateC2(root),
                        List.of("-jar"))
                .flatMap(List::stream)
                .toList();
    }

    /** Flags for the command {@code sidewarp-verbs}, which copies a file and ends. */
    private static List<String> verbsFlags(Path root) {
        return Stream.of(
                        JvmFlags.program(root),
                        Program.CONTAINER_FLAGS,
                        List.of("-Xmx16m", "-XX:TieredStopAtLevel=1", "-jar"))
                .flatMap(List::stream)
                .toList();
    }

    private final Inputs inputs;
    private final SortedMap<String, Path> libraries = new TreeMap<>();
    private final List<String> classPath = new ArrayList<>(List.of(JAR));

    SidecarCommand(Inputs inputs) throws IOException {
        this.inputs = inputs;
        Path packaged = Program.SIDECAR.packaged(inputs.root());
        List<Path> present = jars(packaged.resolve("lib"));
        for (Path jar : jars(inputs.commandLine().resolve("lib"))) {
            Optional<Path> shared = sameContent(jar, present);
            if (shared.isPresent()) {
                classPath.add(Program.HOME + "/" + packaged.relativize(shared.get()));
            } else {
                String path = DIRECTORY + "/lib/" + jar.getFileName();
                libraries.put(path, jar);
                classPath.add(path);
            }
        }
    }

    /** Returns the jars below a directory, always in the same order. */
    static List<Path> jars(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        }
    }

    private static Optional<Path> sameContent(Path jar, List<Path> candidates) throws IOException {
        for (Path candidate : candidates) {
            if (candidate.toString().endsWith(jar.getFileName().toString()) && Files.mismatch(candidate, jar) < 0) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    /** Returns the jars that the sidecar does not have, by their paths in the image. */
    SortedMap<String, Path> libraries() {
        return libraries;
    }

    /** Adds the commands and their options. */
    void addTo(FileEntriesLayer.Builder layer) throws IOException {
        add(layer, "sidewarp", MAIN_CLASS, classPath, flags(inputs.root()));
        add(layer, "sidewarp-verbs", VERBS_CLASS, List.of(JAR), verbsFlags(inputs.root()));
        layer.addEntry(inputs.commandLine().resolve("sidewarp-cli.jar"), AbsoluteUnixPath.get(JAR));
    }

    private void add(
            FileEntriesLayer.Builder layer, String name, String mainClass, List<String> jars, List<String> flags)
            throws IOException {
        String optionsPath = DIRECTORY + "/" + name + ".options";
        Path file = inputs.work().resolve(name);
        CommandFile.write(file, optionsPath, mainClass, jars);
        Path options = inputs.work().resolve(name + ".options");
        Files.write(options, flags);
        layer.addEntry(file, AbsoluteUnixPath.get(DIRECTORY + "/" + name), FilePermissions.fromOctalString("755"));
        layer.addEntry(options, AbsoluteUnixPath.get(optionsPath));
    }
}
