// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The C library that stands in for libibverbs and librdmacm in containers of applications. */
final class VerbsLibrary {
    /**
     * Highest minor version of glibc 2 that the library may need. Images of applications have a glibc of their own, and
     * one that is older cannot load the library.
     */
    static final int MAX_GLIBC = 34;

    private static final Pattern GLIBC = Pattern.compile("GLIBC_2\\.(\\d{1,3})");

    private VerbsLibrary() {}

    /** Compiles the library for the images. */
    static void compile(Inputs inputs) throws IOException {
        String build = inputs.root().resolve("clients/verbs/build").toString();
        JavaProgram.run(
                List.of(build, inputs.verbs().toString()),
                inputs.work(),
                "the verbs library cannot be compiled; it needs the packages gcc, libc6-dev, libibverbs-dev and"
                        + " librdmacm-dev");
        check(inputs.verbs().resolve("libsidewarp-verbs.so"));
    }

    /**
     * Checks that the library runs with the C library of most images.
     *
     * @throws ImageException if it needs a newer one
     */
    static void check(Path library) throws IOException {
        // The names of versions are text in the table of dynamic strings.
        String content = Files.readString(library, StandardCharsets.ISO_8859_1);
        int highest = GLIBC.matcher(content)
                .results()
                .map(MatchResult::group)
                .mapToInt(name -> Integer.parseInt(name.substring(name.indexOf('.') + 1)))
                .max()
                .orElse(0);
        if (highest > MAX_GLIBC) {
            throw new ImageException("the verbs library needs glibc 2." + highest
                    + ", and images of applications have 2." + MAX_GLIBC
                    + " or later; make the images on Debian 12, or without functions of newer versions");
        }
    }
}
