// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Programs of this machine that tests use. */
public final class Tools {

    /** Where nothing may be skipped. */
    public static final boolean IN_CI = "true".equals(System.getenv("CI"));

    private Tools() {}

    /** Ends the test as skipped when a program is missing; as failed in CI. */
    public static void need(String program, String debianPackage) {
        need(Programs.find(program).isPresent(), program + " is not on the PATH", debianPackage);
    }

    /** Ends the test as {@link #need} does when a file or directory is missing. */
    public static void needFile(String path, String debianPackage) {
        need(Files.exists(Path.of(path)), path + " is missing", debianPackage);
    }

    private static void need(boolean present, String problem, String debianPackage) {
        if (present) {
            return;
        }
        String message = problem + "; Debian has it in " + debianPackage;
        if (IN_CI) {
            throw new AssertionError(message);
        }
        abort(message);
    }

    /**
     * Returns a command prefix for a program to which file modes must apply. File modes do not apply to root otherwise.
     */
    public static List<String> withoutPrivilegeOnFiles() throws IOException {
        boolean root = Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        if (!root) {
            return List.of();
        }
        need("setpriv", "util-linux");
        return List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search");
    }

    /** Returns the standard output of a program that ends by itself. Appends its standard error to a file. */
    public static List<String> output(List<String> command, Path errors) {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + command, e);
        }
    }
}
