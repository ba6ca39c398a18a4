// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.client.SharedRegion;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Computes SHA-256. */
public final class Digests {

    private static final int PIECE = 1 << 20;

    private Digests() {}

    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Adds the first {@code length} bytes of a region. */
    public static void update(MessageDigest digest, SharedRegion region, long length) {
        for (long offset = 0; offset < length; offset += PIECE) {
            digest.update(region.buffer(offset, (int) Math.min(PIECE, length - offset)));
        }
    }

    /** Returns the digest of the data so far. More data may follow. */
    public static byte[] soFar(MessageDigest digest) {
        try {
            return ((MessageDigest) digest.clone()).digest();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the JDK's SHA-256 can be cloned", e);
        }
    }
}
