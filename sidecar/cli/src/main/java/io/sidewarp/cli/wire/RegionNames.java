// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Names of files in the shared volume, so that commands that run at the same time do not meet. */
public final class RegionNames {

    private static final SecureRandom RANDOM = new SecureRandom();

    private RegionNames() {}

    /** A name that nobody else has. */
    public static String next(String purpose) {
        byte[] unique = new byte[6];
        RANDOM.nextBytes(unique);
        return "sidewarp-" + purpose + "-" + ProcessHandle.current().pid() + "-"
                + HexFormat.of().formatHex(unique);
    }
}
