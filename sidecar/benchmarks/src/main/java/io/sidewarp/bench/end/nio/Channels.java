// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.nio;

import io.sidewarp.bench.end.Waiting;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Reads and writes whole buffers, on channels that block or not. */
final class Channels {

    private Channels() {}

    /** Configures a channel for a plan's way of waiting: a channel that spins does not block. */
    static SocketChannel prepare(SocketChannel channel, Waiting waiting) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(waiting != Waiting.SPIN);
        return channel;
    }

    /** Fills the buffer; returns false if the peer finished before the first byte. */
    static boolean readFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            int count = channel.read(buffer);
            if (count < 0) {
                if (buffer.position() == 0) {
                    return false;
                }
                throw new EOFException("the peer closed within a message");
            }
            if (count == 0) {
                Thread.onSpinWait();
            }
        }
        return true;
    }

    static void writeFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (channel.write(buffer) == 0) {
                Thread.onSpinWait();
            }
        }
    }
}
