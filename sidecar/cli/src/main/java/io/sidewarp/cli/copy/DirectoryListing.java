// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.Message;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Content of a directory. On the wire, a transfer like that of a file: mode (2 bytes), and for each entry kind (1), mode
 * (2), size (8), name (text). All integers are big-endian.
 *
 * @param mode permissions of the directory
 */
record DirectoryListing(int mode, List<Entry> entries) {

    static final int MAX_ENTRIES = 1 << 16;

    /** Maximum bytes of a listing. Names that are served have at most 200 bytes. */
    static final int MAX_LENGTH = 16 << 20;

    private static final int ENTRY_HEADER_LENGTH = 13;

    DirectoryListing {
        entries = List.copyOf(entries);
    }

    /** Kind of an entry. */
    enum Kind {
        FILE("file"),
        DIRECTORY("directory"),
        LINK("symbolic link"),
        OTHER("special file");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /**
     * Entry of a directory.
     *
     * @param mode permissions
     * @param size bytes of a file
     * @param name as the other side tells it, not checked
     */
    record Entry(Kind kind, int mode, long size, String name) {}

    /** Returns the listing without names that begin with a dot. */
    DirectoryListing withoutHidden() {
        return new DirectoryListing(
                mode,
                entries.stream().filter(entry -> !entry.name().startsWith(".")).toList());
    }

    byte[] encode() {
        int length = Short.BYTES
                + entries.stream()
                        .mapToInt(entry -> ENTRY_HEADER_LENGTH + entry.name().getBytes(StandardCharsets.UTF_8).length)
                        .sum();
        ByteBuffer target = ByteBuffer.allocate(length).putShort((short) mode);
        for (Entry entry : entries) {
            target.put((byte) entry.kind().ordinal())
                    .putShort((short) entry.mode())
                    .putLong(entry.size());
            Message.putText(target, entry.name());
        }
        return target.array();
    }

    /** @throws Failure when the bytes are no listing */
    static DirectoryListing decode(byte[] bytes) {
        ByteBuffer source = ByteBuffer.wrap(bytes);
        try {
            int mode = source.getShort();
            List<Entry> entries = new ArrayList<>();
            while (source.hasRemaining()) {
                Kind kind = Kind.values()[source.get()];
                entries.add(new Entry(kind, source.getShort(), source.getLong(), Message.getText(source)));
            }
            return new DirectoryListing(mode, entries);
        } catch (BufferUnderflowException | ArrayIndexOutOfBoundsException e) {
            throw new Failure(
                    ExitCode.PROTOCOL,
                    "the peer sent a malformed listing of a directory: use the same release at both ends",
                    e);
        }
    }
}
