// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Makes the names of sessions, which are the right to use them. */
final class SessionToken {

    private static final int OCTETS = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private SessionToken() {}

    /** 128 random bits in hexadecimal digits. */
    static String next() {
        byte[] octets = new byte[OCTETS];
        RANDOM.nextBytes(octets);
        return HexFormat.of().formatHex(octets);
    }
}
