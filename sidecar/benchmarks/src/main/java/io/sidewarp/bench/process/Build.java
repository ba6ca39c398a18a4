// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Programs that were built from one checkout of the sources.
 *
 * @param root directory of the sources
 * @param classPath class path of the ends of measurements
 */
public record Build(Path root, String classPath) {

    private static final String JAR = "sidecar/benchmarks/target/sidewarp-benchmarks.jar";

    /** Returns the build of this process. */
    public static Build own(Path root) {
        return new Build(root, System.getProperty("java.class.path"));
    }

    /**
     * Returns the build in another checkout.
     *
     * @throws Failure if nothing is built there
     */
    public static Build at(Path root) {
        Path directory = root.toAbsolutePath().normalize();
        Path jar = directory.resolve(JAR);
        if (!Files.isRegularFile(jar)) {
            throw new Failure(
                    ExitCode.NO_INPUT,
                    "there is no " + JAR + " in " + directory
                            + "; it has to be a checkout of Sidewarp in which `./sidewarp bench --help` ran, which builds it");
        }
        return new Build(directory, jar.toString());
    }
}
