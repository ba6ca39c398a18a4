// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;

/** A file that is written under another name, and gets its own name when it is complete. */
interface FileTarget extends AutoCloseable {

    /** Maximum bytes of a name in file systems. */
    int MAX_NAME_LENGTH = 255;

    WritableByteChannel channel();

    /** Gives the file its name, and replaces a file that had this name. */
    void commit() throws IOException;

    /** Closes the file, and removes it unless it was committed. */
    @Override
    void close() throws IOException;

    /**
     * Returns a name for the file until it is complete: hidden and unique. The name contains the file's name, unless
     * that is too long. For a name that is itself too long, the result is too long as well.
     */
    static String temporaryName(String name) {
        byte[] unique = new byte[8];
        new SecureRandom().nextBytes(unique);
        String suffix = ".sidewarp-" + HexFormat.of().formatHex(unique);
        String whole = "." + name + suffix;
        return isTooLong(whole) && !isTooLong(name) ? suffix : whole;
    }

    private static boolean isTooLong(String name) {
        return name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_LENGTH;
    }
}
