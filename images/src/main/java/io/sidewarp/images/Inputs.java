// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What images are made of.
 *
 * @param root the repository, with the packaged programs in it
 * @param packages what {@code images/packages} provides
 * @param runtime the Java runtime
 * @param version version of the programs, the tag of the images
 * @param work directory for files that are made for the images
 */
record Inputs(Path root, Path packages, Path runtime, String version, Path work) {
    /** Files that every image has besides. */
    Path ownRoot() {
        return root.resolve("images/files");
    }

    /** The packaged command line. */
    Path commandLine() {
        return root.resolve("sidecar/cli/target");
    }

    /** The archive of the sidecar's classes, made for the images. */
    Path sidecarClasses() {
        return work.resolve("sidecar.jsa");
    }

    /** Fails when a program is not packaged. */
    void check() {
        for (Program program : Program.values()) {
            check(program.packaged(root).resolve("quarkus-run.jar"));
        }
        check(commandLine().resolve("sidewarp-cli.jar"));
        check(packages.resolve("base"));
    }

    private static void check(Path path) {
        if (!Files.exists(path)) {
            throw new ImageException(path + " is missing; ./sidewarp images makes all that is needed");
        }
    }
}
