// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Makes names for files that are not complete: hidden and unique. */
final class TemporaryName {

    /** Maximum bytes of a name in file systems. */
    private static final int MAX_LENGTH = 255;

    private static final SecureRandom RANDOM = new SecureRandom();

    private TemporaryName() {}

    /**
     * Returns a temporary name that contains the file's name, unless that is too long. For a name that is itself too
     * long, the result is too long as well.
     */
    static String of(String name) {
        byte[] unique = new byte[8];
        RANDOM.nextBytes(unique);
        String suffix = ".sidewarp-" + HexFormat.of().formatHex(unique);
        String whole = "." + name + suffix;
        return isTooLong(whole) && !isTooLong(name) ? suffix : whole;
    }

    private static boolean isTooLong(String name) {
        return name.getBytes(StandardCharsets.UTF_8).length > MAX_LENGTH;
    }
}
