// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.verbs;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.common.FailureText;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/**
 * Copies the library that stands in for libibverbs and librdmacm from the sidecar's image into a volume. Other
 * containers of the pod load the library from there. Starts without the other commands and their libraries.
 */
public final class VerbsInstaller {
    /** Directory of the library in the sidecar's image. */
    private static final Path SOURCE = Path.of("/opt/sidewarp/verbs");

    /** The library under its own name. */
    private static final String LIBRARY = "libsidewarp-verbs.so";

    /**
     * Names by which programs find the library. They are links, because the loader recognises a second name of one file,
     * and would load a copy of the file a second time.
     */
    private static final List<String> LINKS = List.of("libibverbs.so.1", "librdmacm.so.1");

    private VerbsInstaller() {}

    /** Copies the library into the directory that the only argument names. */
    public static void main(String[] arguments) {
        if (arguments.length != 1) {
            System.err.println("sidewarp-verbs: expected one argument: the directory for the verbs library");
            System.exit(ExitCode.USAGE);
        }
        System.exit(install(SOURCE, Path.of(arguments[0]), System.err));
    }

    /**
     * Copies the library. A repeated call replaces its files, and running programs keep the former files.
     *
     * @return the exit code
     */
    static int install(Path source, Path target, PrintStream errors) {
        if (!Files.exists(source.resolve(LIBRARY))) {
            errors.println("sidewarp-verbs: this image has no verbs library for " + System.getProperty("os.arch")
                    + "; use an image that has " + source.resolve(LIBRARY)
                    + ", or remove the annotation sidewarp.io/verbs from the pod");
            return ExitCode.CONFIGURATION;
        }
        try (Stream<Path> files = Files.list(source)) {
            for (Path file : files.sorted().toList()) {
                copy(file, target);
            }
            for (String link : LINKS) {
                if (!Files.exists(target.resolve(link), LinkOption.NOFOLLOW_LINKS)) {
                    Files.createSymbolicLink(target.resolve(link), Path.of(LIBRARY));
                }
            }
            return ExitCode.OK;
        } catch (IOException e) {
            errors.println("sidewarp-verbs: cannot copy " + source + " to " + target + ": " + FailureText.withFile(e));
            return ExitCode.IO_ERROR;
        }
    }

    /** Copies a file, which containers of other users may read. */
    private static void copy(Path file, Path target) throws IOException {
        Path copy = target.resolve(file.getFileName() + ".new");
        Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(copy, target.resolve(file.getFileName()), StandardCopyOption.ATOMIC_MOVE);
    }
}
