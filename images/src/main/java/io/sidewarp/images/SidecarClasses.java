// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Archive of the classes that the sidecar has loaded when it is ready, in the layout that a JVM maps (class data
 * sharing). With the archive a start need not read and verify the classes again. A start of the packaged sidecar
 * determines the list of classes. The list is kept beside the packaged program, since it differs a little between
 * starts. The same list always gives the same archive.
 */
final class SidecarClasses {
    /** Path of the archive in the image. */
    static final String ARCHIVE = Program.HOME + "/sidecar.jsa";

    /** Path of a file in the image with the class path and the main class, as arguments of {@code java}. */
    static final String OPTIONS = Program.HOME + "/sidecar.options";

    private static final String MAIN_CLASS = "io.sidewarp.service.lifecycle.SidecarMain";
    private static final List<String> JAR_DIRECTORIES = List.of("app", "quarkus", "lib/boot", "lib/main");
    private static final String READY = "event=started";

    /** Maximum time for a start and an end of the sidecar, which take seconds on an idle machine. */
    private static final long LIMIT_SECONDS = 180;

    /** Time of files in images. A JVM refuses an archive if the jars have another time. */
    private static final FileTime TIME = FileTime.from(Instant.ofEpochSecond(1));

    private SidecarClasses() {}

    /** Writes the arguments that name the jars of the sidecar in its image, from its working directory. */
    static void writeOptions(Path packaged, Path file) throws IOException {
        Files.writeString(file, "-cp\n" + classPath(packaged) + "\n" + MAIN_CLASS + "\n");
    }

    /**
     * Returns the jars of the packaged sidecar, always in the same order. The archive contains their paths, and a JVM
     * with other paths refuses the archive. The paths are therefore relative to the directory in which the sidecar
     * starts.
     */
    private static String classPath(Path packaged) throws IOException {
        return jars(packaged).stream()
                .map(jar -> packaged.relativize(jar).toString())
                .collect(Collectors.joining(":"));
    }

    private static List<Path> jars(Path packaged) throws IOException {
        List<Path> jars = new ArrayList<>();
        for (String part : JAR_DIRECTORIES) {
            if (Files.isDirectory(packaged.resolve(part))) {
                jars.addAll(SidecarCommand.jars(packaged.resolve(part)));
            }
        }
        return jars;
    }

    /** Makes the archive with the Java runtime of the images. */
    static void archive(Inputs inputs) {
        Path packaged = Program.SIDECAR.packaged(inputs.root());
        try {
            Path stage = Files.createDirectories(inputs.work().resolve("stage"));
            copy(packaged, stage);
            Path list = classList(inputs, packaged, stage);
            List<String> command = new ArrayList<>(List.of(JavaRuntime.java(inputs.runtime())));
            command.addAll(Program.SIDECAR.jvmFlags(inputs.root()));
            command.addAll(JavaRuntime.ARCHIVE_FLAGS);
            command.addAll(List.of(
                    "-XX:SharedClassListFile=" + list,
                    "-XX:SharedArchiveFile=" + inputs.sidecarClasses(),
                    "-cp",
                    classPath(packaged)));
            String failure = "java cannot archive the sidecar's classes";
            JavaProgram.run(command, stage, failure);
            if (!Files.exists(inputs.sidecarClasses())) {
                throw new ImageException(failure);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot archive the sidecar's classes", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ImageException("interrupted", e);
        }
    }

    private static void copy(Path packaged, Path stage) throws IOException {
        for (Path jar : jars(packaged)) {
            Path copy = stage.resolve(packaged.relativize(jar));
            Files.createDirectories(copy.getParent());
            Files.copy(jar, copy);
            Files.setLastModifiedTime(copy, TIME);
        }
    }

    /** Returns the list beside the packaged sidecar. Makes the list if it is missing or older than the program. */
    private static Path classList(Inputs inputs, Path packaged, Path stage) throws IOException, InterruptedException {
        Path list = packaged.resolveSibling("sidecar.classes");
        FileTime time = Files.getLastModifiedTime(packaged.resolve("quarkus-run.jar"));
        if (Files.exists(list) && Files.getLastModifiedTime(list).compareTo(time) >= 0) {
            return list;
        }
        Path made = inputs.work().resolve("sidecar.classes");
        Path run = Files.createDirectories(inputs.work().resolve("run"));
        List<String> command =
                new ArrayList<>(List.of(JavaRuntime.java(inputs.runtime()), "-XX:DumpLoadedClassList=" + made));
        command.addAll(Program.SIDECAR.jvmFlags(inputs.root()));
        command.addAll(List.of("-cp", classPath(packaged), MAIN_CLASS));
        ProcessBuilder builder = JavaProgram.builder(command, stage);
        builder.environment().keySet().removeIf(name -> name.startsWith("SIDEWARP_") || name.startsWith("OTEL_"));
        builder.environment().put("SIDEWARP_API_SOCKET", run.resolve("api.sock").toString());
        builder.environment()
                .put("SIDEWARP_SHARED_VOLUME", run.resolve("shared").toString());
        builder.environment().put("SIDEWARP_MANAGEMENT_PORT", "0");
        Process sidecar = JavaProgram.start(builder);
        CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS).execute(sidecar::destroyForcibly);
        try {
            sidecar.getOutputStream().close();
            awaitReady(sidecar);
            // Uses the handle, since {@code Process.destroy} would close the output, too.
            sidecar.toHandle().destroy();
            sidecar.getInputStream().transferTo(OutputStream.nullOutputStream());
            sidecar.waitFor();
            if (!Files.exists(made)) {
                throw new ImageException("the packaged sidecar wrote no list of loaded classes");
            }
        } finally {
            sidecar.destroyForcibly();
        }
        return Files.copy(made, list, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void awaitReady(Process sidecar) throws IOException {
        List<String> output = new ArrayList<>();
        BufferedReader reader = sidecar.inputReader(StandardCharsets.UTF_8);
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.contains(READY)) {
                return;
            }
            output.add(line);
        }
        throw new ImageException("the packaged sidecar does not start: " + String.join("; ", output));
    }
}
