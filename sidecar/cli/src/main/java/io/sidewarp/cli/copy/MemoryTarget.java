// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.ByteArrayOutputStream;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;

/** Content that is wanted in memory, not in a file. */
final class MemoryTarget implements FileTarget {

    private final int limit;
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private final WritableByteChannel channel = Channels.newChannel(content);

    /** @param limit maximum bytes of the content */
    MemoryTarget(int limit) {
        this.limit = limit;
    }

    byte[] content() {
        return content.toByteArray();
    }

    @Override
    public WritableByteChannel channel() {
        return channel;
    }

    @Override
    public void expect(long size) {
        if (size < 0 || size > limit) {
            throw new Failure(
                    ExitCode.PROTOCOL, "the peer sends a listing of " + size + " bytes; the limit is " + limit);
        }
    }

    @Override
    public void commit() {}

    @Override
    public void close() {}
}
