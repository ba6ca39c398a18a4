// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Makes names of files in the shared volume that are unique among commands that run at the same time. */
public final class RegionNames {

    private static final SecureRandom RANDOM = new SecureRandom();

    private RegionNames() {}

    /** Returns a unique name. */
    public static String next(String purpose) {
        byte[] unique = new byte[6];
        RANDOM.nextBytes(unique);
        return "sidewarp-" + purpose + "-" + ProcessHandle.current().pid() + "-"
                + HexFormat.of().formatHex(unique);
    }
}
