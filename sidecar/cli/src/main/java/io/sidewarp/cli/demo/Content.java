// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.wire.Pattern;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Data that the demo moves. */
sealed interface Content extends AutoCloseable {

    /** Returns the size in bytes. */
    long size();

    /** Fills memory with the content from an offset on. */
    void load(MemorySegment target, long offset) throws IOException;

    @Override
    void close() throws IOException;

    /** Generated data, the same in each run. */
    record Generated(long size) implements Content {

        private static final long SEED = 5040;

        @Override
        public void load(MemorySegment target, long offset) {
            Pattern.fill(target, SEED, offset);
        }

        @Override
        public void close() {}
    }

    /** A file. */
    record Stored(FileChannel file, long size) implements Content {

        private static final long PIECE = 1L << 26;

        static Stored open(Path path) throws IOException {
            FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
            return new Stored(file, file.size());
        }

        @Override
        public void load(MemorySegment target, long offset) throws IOException {
            for (long done = 0; done < target.byteSize(); done += PIECE) {
                ByteBuffer piece = target.asSlice(done, Math.min(PIECE, target.byteSize() - done))
                        .asByteBuffer();
                long position = offset + done;
                while (piece.hasRemaining()) {
                    int count = file.read(piece, position);
                    if (count < 0) {
                        throw new EOFException("the file became shorter while it was read");
                    }
                    position += count;
                }
            }
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
