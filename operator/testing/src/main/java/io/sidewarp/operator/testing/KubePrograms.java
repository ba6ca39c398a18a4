// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
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
public record KubePrograms(Path directory) {

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
    public static KubePrograms find() {
        Path script = root().resolve(SCRIPT);
        try {
            Path errors = Files.createTempFile("sidewarp-kube", ".log");
            try {
                return find(script, errors);
            } finally {
                Files.delete(errors);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + script, e);
        }
    }

    private static KubePrograms find(Path script, Path errors) throws IOException {
        Process process = new ProcessBuilder(script.toString(), "--find")
                .redirectError(errors.toFile())
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(script + " did not end within " + LIMIT);
            }
            if (process.exitValue() == UNAVAILABLE) {
                throw new KubeUnavailableException(Files.readString(errors).strip());
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException(script + " failed: " + Files.readString(errors));
            }
            return new KubePrograms(Path.of(output));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
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
    public Path require(String program) {
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
