// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import io.sidewarp.ring.RingLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file of the shared volume, used by system calls only. A mapping would raise faults in this process when the file is
 * truncated. Thread-safe.
 */
final class FuzzedFile implements AutoCloseable {

    private final FileChannel channel;
    private final long length;

    /** @param length of the file as it was created */
    FuzzedFile(Path path, long length) {
        this.length = length;
        try {
            channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    long length() {
        return length;
    }

    /** Returns the blocks of a ring. */
    int blocks() {
        return (int) ((length - RingLayout.DATA_OFFSET) / RingLayout.BLOCK_SIZE);
    }

    /** Returns where a block of a ring stands. */
    long at(long block) {
        return RingLayout.DATA_OFFSET + (block & (blocks() - 1L)) * RingLayout.BLOCK_SIZE;
    }

    void put(long at, byte[] data, int from, int count) {
        try {
            channel.write(ByteBuffer.wrap(data, from, count), at);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    void put(long at, byte... data) {
        put(at, data, 0, data.length);
    }

    void putLong(long at, long value) {
        put(at, buffer(Long.BYTES).putLong(0, value).array());
    }

    void putInt(long at, int value) {
        put(at, buffer(Integer.BYTES).putInt(0, value).array());
    }

    /** Returns zeros behind the end of the file. */
    byte[] get(long at, int count) {
        ByteBuffer data = ByteBuffer.allocate(count);
        try {
            channel.read(data, at);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return data.array();
    }

    long getLong(long at) {
        return ByteBuffer.wrap(get(at, Long.BYTES))
                .order(ByteOrder.nativeOrder())
                .getLong();
    }

    int getInt(long at) {
        return ByteBuffer.wrap(get(at, Integer.BYTES))
                .order(ByteOrder.nativeOrder())
                .getInt();
    }

    void cut(long to) {
        try {
            channel.truncate(to);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Makes the file as long as it was; what was cut off is zero. */
    void extend() {
        try {
            if (channel.size() < length) {
                channel.write(ByteBuffer.allocate(1), length - 1);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
