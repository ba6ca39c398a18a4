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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Archive of the classes that a program has loaded when it is ready, in the layout that a JVM maps (class data
 * sharing). With the archive a start need not read and verify the classes again. A start of the packaged program
 * determines the list of classes. The list is kept beside the packaged program, since it differs a little between
 * starts. The same list always gives the same archive.
 */
final class ProgramClasses {
    /** Directories of jars. Classes that Quarkus has transformed replace those of the program. */
    private static final List<String> JAR_DIRECTORIES = List.of("quarkus", "app", "lib/boot", "lib/main");

    /** Maximum time for a start and an end of a program, which take seconds on an idle machine. */
    private static final long LIMIT_SECONDS = 180;

    /** Time of files in images. A JVM refuses an archive if the jars have another time. */
    private static final FileTime TIME = FileTime.from(Instant.ofEpochSecond(1));

    /**
     * Start of a program as the example for its archive.
     *
     * @param mainClass class with the method {@code main}
     * @param ready part of the line of the log after which the program is ended
     */
    private record Start(String mainClass, String ready) {
        /** Returns the environment for a start outside of a container, with all files in one directory. */
        Map<String, String> environment(Program program, Path directory) {
            String path = directory.toString();
            return program == Program.SIDECAR
                    ? Map.of(
                            "SIDEWARP_API_SOCKET", path + "/api.sock",
                            "SIDEWARP_SHARED_VOLUME", path + "/shared",
                            "SIDEWARP_MANAGEMENT_PORT", "0")
                    : Map.of(
                            // No API server is there, and the agent says so as soon as it has asked.
                            "KUBERNETES_MASTER", "http://127.0.0.1:9",
                            "NODE_NAME", "none",
                            "QUARKUS_HTTP_HOST", "127.0.0.1",
                            "QUARKUS_HTTP_PORT", "0",
                            "SIDEWARP_AGENT_STATE_DIRECTORY", path + "/state",
                            "SIDEWARP_AGENT_DEVICE_PLUGIN_DIRECTORY", path + "/device-plugins",
                            "SIDEWARP_AGENT_PLUGIN_REGISTRY_DIRECTORY", path + "/registry",
                            "SIDEWARP_AGENT_DRA_PLUGIN_DIRECTORY", path + "/dra",
                            "SIDEWARP_AGENT_CDI_DIRECTORY", path + "/cdi",
                            "SIDEWARP_AGENT_POD_RESOURCES_SOCKET", path + "/pod-resources.sock");
        }
    }

    private final Program program;
    private final Start start;

    private ProgramClasses(Program program, Start start) {
        this.program = program;
        this.start = start;
    }

    /** Returns the archive of a program; empty for a program that starts without one. */
    static Optional<ProgramClasses> of(Program program) {
        return switch (program) {
            case SIDECAR ->
                Optional.of(new ProgramClasses(
                        program, new Start("io.sidewarp.service.lifecycle.SidecarMain", "event=started")));
            case NODE_AGENT ->
                Optional.of(new ProgramClasses(
                        program, new Start("io.sidewarp.operator.agent.NodeAgentMain", "event=api-server-away")));
            case CONTROLLER -> Optional.empty();
        };
    }

    /** Returns the path of the archive in the image. */
    String archive() {
        return Program.HOME + "/" + program.imageName() + ".jsa";
    }

    /** Returns the path of a file in the image with the class path and the main class, as arguments of {@code java}. */
    String options() {
        return Program.HOME + "/" + program.imageName() + ".options";
    }

    /** Writes the arguments that name the jars of the program in its image, from its working directory. */
    void writeOptions(Path packaged, Path file) throws IOException {
        Files.writeString(file, "-cp\n" + classPath(packaged) + "\n" + start.mainClass() + "\n");
    }

    /**
     * Returns the jars of the packaged program, always in the same order. The archive contains their paths, and a JVM
     * with other paths refuses the archive. The paths are therefore relative to the directory in which the
     * program starts.
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
    void make(Inputs inputs) {
        Path packaged = program.packaged(inputs.root());
        try {
            Path stage = Files.createDirectories(inputs.work().resolve("stage-" + program.imageName()));
            copy(packaged, stage);
            Path list = classList(inputs, packaged, stage);
            List<String> command = new ArrayList<>(List.of(JavaRuntime.java(inputs.runtime())));
            command.addAll(program.jvmFlags(inputs.root()));
            command.addAll(JavaRuntime.ARCHIVE_FLAGS);
            command.addAll(List.of(
                    "-XX:SharedClassListFile=" + list,
                    "-XX:SharedArchiveFile=" + inputs.classes(program),
                    "-cp",
                    classPath(packaged)));
            String failure = "java cannot archive the classes of the " + program.imageName();
            JavaProgram.run(command, stage, failure);
            if (!Files.exists(inputs.classes(program))) {
                throw new ImageException(failure);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot archive the classes of the " + program.imageName(), e);
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

    /** Returns the list beside the packaged program. Makes the list if it is missing or older than the program. */
    private Path classList(Inputs inputs, Path packaged, Path stage) throws IOException, InterruptedException {
        Path list = packaged.resolveSibling(program.imageName() + ".classes");
        FileTime time = Files.getLastModifiedTime(packaged.resolve("quarkus-run.jar"));
        if (Files.exists(list) && Files.getLastModifiedTime(list).compareTo(time) >= 0) {
            return list;
        }
        Path made = inputs.work().resolve(program.imageName() + ".classes");
        Path run = Files.createDirectories(inputs.work().resolve("run-" + program.imageName()));
        List<String> command =
                new ArrayList<>(List.of(JavaRuntime.java(inputs.runtime()), "-XX:DumpLoadedClassList=" + made));
        command.addAll(program.jvmFlags(inputs.root()));
        command.addAll(List.of("-cp", classPath(packaged), start.mainClass()));
        ProcessBuilder builder = JavaProgram.builder(command, stage);
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("SIDEWARP_") || name.startsWith("OTEL_") || name.startsWith("KUBE"));
        builder.environment().putAll(start.environment(program, run));
        Process process = JavaProgram.start(builder);
        CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS).execute(process::destroyForcibly);
        try {
            process.getOutputStream().close();
            awaitReady(process);
            // Uses the handle, since {@code Process.destroy} would close the output, too.
            process.toHandle().destroy();
            process.getInputStream().transferTo(OutputStream.nullOutputStream());
            process.waitFor();
            if (!Files.exists(made)) {
                throw new ImageException("the packaged " + program.imageName() + " wrote no list of loaded classes");
            }
        } finally {
            process.destroyForcibly();
        }
        return Files.copy(made, list, StandardCopyOption.REPLACE_EXISTING);
    }

    private void awaitReady(Process process) throws IOException {
        List<String> output = new ArrayList<>();
        BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.contains(start.ready())) {
                return;
            }
            output.add(line);
        }
        throw new ImageException(
                "the packaged " + program.imageName() + " does not start: " + String.join("; ", output));
    }
}
