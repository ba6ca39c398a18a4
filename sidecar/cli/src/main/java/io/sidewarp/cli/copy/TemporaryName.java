// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Names that files have until they are complete: hidden ones, which nobody else has. */
final class TemporaryName {

    /** Octets of a name that file systems take. */
    private static final int MAX_LENGTH = 255;

    private static final SecureRandom RANDOM = new SecureRandom();

    private TemporaryName() {}

    /** One for a file, which it names unless that makes it too long. A name that is too long itself makes one that is, too. */
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
