// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Programs of a control plane, made by {@code operator/testing/kube/build} or found at KUBEBUILDER_ASSETS.
 *
 * @param directory directory with etcd, kube-apiserver, and any further programs
 */
record KubePrograms(Path directory) {

    private static final String SCRIPT = "operator/testing/kube/build";

    /** Exit status of the script if there are no programs. */
    private static final int UNAVAILABLE = 69;

    /** Maximum time to read files of some 100 MB and compare their checksums. */
    private static final Duration LIMIT = Duration.ofMinutes(2);

    /**
     * Finds the programs. Does not build them, since that takes minutes; {@code ./sidewarp test} does.
     *
     * @throws KubeUnavailableException if there are none
     */
    static KubePrograms find() {
        Path script = root().resolve(SCRIPT);
        try {
            return find(script, new ProcessBuilder(script.toString(), "--find").start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + script, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static KubePrograms find(Path script, Process process) throws IOException, InterruptedException {
        try {
            String output = process.inputReader().readAllAsString().strip();
            String errors = process.errorReader().readAllAsString().strip();
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(script + " did not end within " + LIMIT);
            }
            return switch (process.exitValue()) {
                case 0 -> new KubePrograms(Path.of(output));
                case UNAVAILABLE -> throw new KubeUnavailableException(errors);
                default -> throw new IllegalStateException(script + " failed: " + errors);
            };
        } finally {
            process.destroyForcibly();
        }
    }

    /** Returns the directory of the project. The build names the directory; an IDE runs tests somewhere below it. */
    private static Path root() {
        String named = System.getProperty("sidewarp.root");
        if (named != null) {
            return Path.of(named);
        }
        Path working = Path.of("").toAbsolutePath();
        for (Path directory = working; directory != null; directory = directory.getParent()) {
            if (Files.exists(directory.resolve(SCRIPT))) {
                return directory;
            }
        }
        throw new IllegalStateException("no " + SCRIPT + " in " + working + " or above; set -Dsidewarp.root");
    }

    /**
     * Returns the path of a program. Looks in the directory first, and then in the PATH, since envtest has few
     * programs.
     *
     * @throws KubeUnavailableException if the program is in neither
     */
    Path require(String program) {
        String path = Objects.requireNonNullElse(System.getenv("PATH"), "");
        return Stream.concat(
                        Stream.of(directory),
                        Stream.of(path.split(File.pathSeparator)).map(Path::of))
                .map(candidate -> candidate.resolve(program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new KubeUnavailableException(
                        "there is no program " + program + " in " + directory + " or on the PATH"));
    }
}
