// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/** A file that is written under another name, and gets its own name when it is complete. */
interface FileTarget extends AutoCloseable {

    /** Maximum bytes of a name in file systems. */
    int MAX_NAME_LENGTH = 255;

    WritableByteChannel channel();

    /**
     * Checks that a file of this size has room.
     *
     * @throws Failure when it has none
     */
    void expect(long size) throws IOException;

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

    /** Checks that a directory has room for a file of this size. */
    static void checkSpace(Path directory, long size) {
        if (size < 0 || directory.toFile().getUsableSpace() < size) {
            throw new Failure(
                    ExitCode.NO_RESOURCES, "the file has " + size + " bytes, but " + directory + " has no room for it");
        }
    }

    private static boolean isTooLong(String name) {
        return name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_LENGTH;
    }
}
