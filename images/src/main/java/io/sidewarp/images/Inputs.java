// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Inputs of the images.
 *
 * @param root directory of the repository, with the packaged programs
 * @param packages directory that {@code images/packages} prints
 * @param runtime directory of the Java runtime
 * @param version version of the programs, used as the tag of the images
 * @param work directory for intermediate files
 */
record Inputs(Path root, Path packages, Path runtime, String version, Path work) {
    /** Returns the directory of further files for every image. */
    Path ownRoot() {
        return root.resolve("images/files");
    }

    /** Returns the directory of the packaged command line. */
    Path commandLine() {
        return root.resolve("sidecar/cli/target");
    }

    /** Returns the archive of a program's classes, made for the images. */
    Path classes(Program program) {
        return work.resolve(program.imageName() + ".jsa");
    }

    /** Returns the directory of the verbs library, compiled for the images. */
    Path verbs() {
        return work.resolve("verbs");
    }

    /**
     * Checks that all programs are packaged.
     *
     * @throws ImageException if a file is missing
     */
    void check() {
        for (Program program : Program.values()) {
            check(program.packaged(root).resolve("quarkus-run.jar"));
        }
        check(commandLine().resolve("sidewarp-cli.jar"));
        check(packages.resolve("base"));
    }

    private static void check(Path path) {
        if (!Files.exists(path)) {
            throw new ImageException(path + " is missing; run ./sidewarp images, which makes it");
        }
    }
}
