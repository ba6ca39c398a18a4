// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Digests;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Work of both ends on each chunk of a file: reads or writes the chunk, adds it to the SHA-256, and shows the progress.
 */
final class Transfer {

    private static final long PROGRESS_PERIOD = TimeUnit.MILLISECONDS.toNanos(250);

    private final String name;
    private final long size;
    private final ProgressLine progress;
    private final MessageDigest digest = Digests.sha256();
    private final long begin = System.nanoTime();
    private long done;
    private long shownAt = begin;

    Transfer(String name, long size, ProgressLine progress) {
        this.name = name;
        this.size = size;
        this.progress = progress;
    }

    /** Fills a buffer from the file. */
    void read(ReadableByteChannel file, ByteBuffer buffer) throws IOException {
        ByteBuffer target = buffer.duplicate();
        while (target.hasRemaining()) {
            if (file.read(target) < 0) {
                throw new EOFException(name + " became shorter while it was read");
            }
        }
        add(buffer);
    }

    /** Writes a buffer to the file. */
    void write(WritableByteChannel file, ByteBuffer buffer) throws IOException {
        ByteBuffer source = buffer.duplicate();
        while (source.hasRemaining()) {
            file.write(source);
        }
        add(buffer);
    }

    /** Returns the SHA-256 of everything. Can be called once. */
    byte[] digest() {
        progress.clear();
        return digest.digest();
    }

    /**
     * Compares size and SHA-256 with those of the other end.
     *
     * @throws Failure when the size or the SHA-256 differs
     */
    void verify(CopyMessage.Finish finish, byte[] own) {
        if (finish.size() != done || !MessageDigest.isEqual(finish.digest(), own)) {
            throw new Failure(
                    ExitCode.FAILED,
                    name + " did not arrive as it was sent: " + done + " bytes with SHA-256 " + hex(own)
                            + " instead of " + finish.size() + " with " + hex(finish.digest())
                            + "; nothing was stored");
        }
    }

    /** Returns one line about a file whose SHA-256 is the same at both ends. */
    String verified(byte[] sha256) {
        return summary(sha256) + " verified";
    }

    /** Returns one line about a file that is complete at this end. */
    String summary(byte[] sha256) {
        double seconds = Math.max(System.nanoTime() - begin, 1) / 1e9;
        return String.format(
                Locale.ROOT,
                "%s in %.2f s (%.2f Gbit/s), SHA-256 %s",
                Sizes.format(done),
                seconds,
                done * 8 / seconds / 1e9,
                hex(sha256));
    }

    private void add(ByteBuffer buffer) {
        int octets = buffer.remaining();
        digest.update(buffer.duplicate());
        done += octets;
        long now = System.nanoTime();
        if (progress.isVisible() && now - shownAt > PROGRESS_PERIOD) {
            shownAt = now;
            double rate = done / ((now - begin) / 1e9);
            progress.update(String.format(
                    Locale.ROOT,
                    "%s: %.0f %% of %s, %.2f Gbit/s, %.0f s left",
                    name,
                    done * 100.0 / size,
                    Sizes.format(size),
                    rate * 8 / 1e9,
                    (size - done) / rate));
        }
    }

    private static String hex(byte[] octets) {
        return HexFormat.of().formatHex(octets);
    }
}
