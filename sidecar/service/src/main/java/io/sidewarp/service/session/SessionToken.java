// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Creates session tokens. A token is the right to use its session. */
final class SessionToken {

    private static final int OCTETS = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private SessionToken() {}

    /** Returns 128 random bits in hexadecimal digits. */
    static String next() {
        byte[] octets = new byte[OCTETS];
        RANDOM.nextBytes(octets);
        return HexFormat.of().formatHex(octets);
    }
}
