// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Location of the sidecar's program. */
final class ServiceJar {

    private static final String BELOW_ROOT = "sidecar/service/target/quarkus-app/quarkus-run.jar";

    @Option(
            names = "--service-jar",
            paramLabel = "FILE",
            description = "The sidecar's quarkus-run.jar. Default: the environment's SIDEWARP_SERVICE_JAR, or where the"
                    + " build below SIDEWARP_ROOT puts it.")
    private Optional<Path> jar = Optional.empty();

    /** @throws Failure when neither the option nor the environment names it */
    Path path() {
        return jar.or(() -> environment("SIDEWARP_SERVICE_JAR"))
                .or(() -> environment("SIDEWARP_ROOT").map(root -> root.resolve(BELOW_ROOT)))
                .orElseThrow(() -> new Failure(
                        ExitCode.CONFIGURATION,
                        "the sidecar's quarkus-run.jar is not known: run ./sidewarp demo, or give --service-jar FILE"));
    }

    private static Optional<Path> environment(String name) {
        return Optional.ofNullable(System.getenv(name))
                .filter(value -> !value.isEmpty())
                .map(Path::of);
    }
}
