// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Paths of the packaged programs, and their start commands. */
public final class Programs {

    private Programs() {}

    /** The repository. */
    public static Path root() {
        return Path.of(System.getProperty("sidewarp.root", ".."))
                .toAbsolutePath()
                .normalize();
    }

    /** Copies `./sidewarp` and its parts into another directory. */
    public static void copyScript(Path directory) throws IOException {
        Path parts = Files.createDirectories(directory.resolve("tools"));
        Files.copy(root().resolve("sidewarp"), directory.resolve("sidewarp"), StandardCopyOption.COPY_ATTRIBUTES);
        for (String part : List.of("setup.sh", "build.sh", "launch.sh")) {
            Files.copy(root().resolve("tools").resolve(part), parts.resolve(part));
        }
        Path flags = Files.createDirectories(parts.resolve("jvm"));
        for (String file : List.of("program.args", "sidecar.args")) {
            Files.copy(root().resolve("tools/jvm").resolve(file), flags.resolve(file));
        }
    }

    /** Directory where logs and captures of this run stay for the analysis of failures. */
    public static Path output() {
        return Path.of(System.getProperty("sidewarp.e2e.output", "target/e2e")).toAbsolutePath();
    }

    public static Path serviceJar() {
        return built(root().resolve("sidecar/service/target/quarkus-app/quarkus-run.jar"));
    }

    public static Path cliJar() {
        return built(root().resolve("sidecar/cli/target/sidewarp-cli.jar"));
    }

    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Returns the flags that `./sidewarp` gives to each of its JVMs. */
    public static List<String> jvmFlags() {
        return flags("program.args");
    }

    /** Returns the flags that `./sidewarp sidecar` adds, except the flag that disables Netty's leak detection. */
    public static List<String> sidecarFlags() {
        return Stream.concat(
                        flags("sidecar.args").stream().filter(flag -> !flag.contains("leakDetection")),
                        Stream.of("-XX:MaxDirectMemorySize=1g"))
                .toList();
    }

    private static List<String> flags(String file) {
        try {
            return Files.readAllLines(root().resolve("tools/jvm").resolve(file)).stream()
                    .filter(line -> line.startsWith("-"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The class path of the tests, for clients in JVMs of their own. */
    public static String testClassPath() {
        return System.getProperty("java.class.path");
    }

    /** The program of this name on the PATH. */
    public static Optional<Path> find(String name) {
        return Pattern.compile(File.pathSeparator)
                .splitAsStream(System.getenv("PATH"))
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Environment in which `./sidewarp` runs what this build packaged, and does not begin another one. */
    public static Map<String, String> unbuilt() {
        return Map.of("SIDEWARP_BUILD", "never", "JAVA_HOME", System.getProperty("java.home"));
    }

    private static Path built(Path jar) {
        if (!Files.exists(jar)) {
            throw new IllegalStateException(jar + " is missing; package the programs first: ./sidewarp build");
        }
        return jar;
    }
}
