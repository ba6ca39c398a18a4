// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import static io.sidewarp.engine.linux.NativeLibrary.C;

import io.sidewarp.engine.linux.LinuxErrno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A Unix socket that never waits, and that passes descriptors. For one thread. */
final class NativeSocket implements AutoCloseable {

    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM_CLOEXEC = 0x80001;
    private static final int ADDRESS_LENGTH = 110;
    private static final int MSG_DONTWAIT_NOSIGNAL = 0x4040;
    private static final int HEADER = 16;

    private final int descriptor;

    NativeSocket(Path path) {
        descriptor = C.call("socket", AF_UNIX, SOCK_STREAM_CLOEXEC, 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS_LENGTH);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            address.asSlice(Short.BYTES)
                    .copyFrom(MemorySegment.ofArray(path.toString().getBytes(StandardCharsets.UTF_8)));
            check("connect to " + path, C.call("connect", descriptor, address, ADDRESS_LENGTH));
        }
    }

    /** Reads bytes that are there. Returns their number, or -1 at the end. */
    int read(ByteBuffer buffer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(buffer.remaining());
            int result = C.call("recv", descriptor, bytes, bytes.byteSize(), MSG_DONTWAIT_NOSIGNAL);
            if (result <= 0) {
                return result == -LinuxErrno.EAGAIN ? 0 : -1;
            }
            buffer.put(bytes.asSlice(0, result).toArray(ValueLayout.JAVA_BYTE));
            return result;
        }
    }

    /** Writes bytes for which there is room. Returns whether the socket is open. */
    boolean write(ByteBuffer buffer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(
                    ValueLayout.JAVA_BYTE,
                    MemorySegment.ofBuffer(buffer),
                    ValueLayout.JAVA_BYTE,
                    0,
                    buffer.remaining());
            int result = C.call("send", descriptor, bytes, bytes.byteSize(), MSG_DONTWAIT_NOSIGNAL);
            buffer.position(buffer.position() + Math.max(result, 0));
            return result >= 0 || result == -LinuxErrno.EAGAIN;
        }
    }

    /** Writes a byte with descriptors. */
    void pass(int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            long length = HEADER + (long) Integer.BYTES * descriptors.length;
            MemorySegment control = arena.allocate(length + Long.BYTES, Long.BYTES);
            control.set(ValueLayout.JAVA_LONG, 0, length);
            control.set(ValueLayout.JAVA_INT, 8, 1);
            control.set(ValueLayout.JAVA_INT, 12, 1);
            control.asSlice(HEADER).copyFrom(MemorySegment.ofArray(descriptors));
            MemorySegment part = arena.allocate(HEADER, Long.BYTES);
            part.set(ValueLayout.ADDRESS, 0, arena.allocate(1));
            part.set(ValueLayout.JAVA_LONG, 8, 1);
            MemorySegment message = arena.allocate(56, Long.BYTES);
            message.set(ValueLayout.ADDRESS, 16, part);
            message.set(ValueLayout.JAVA_LONG, 24, 1);
            message.set(ValueLayout.ADDRESS, 32, control);
            message.set(ValueLayout.JAVA_LONG, 40, length);
            C.call("sendmsg", descriptor, message, MSG_DONTWAIT_NOSIGNAL);
        }
    }

    /** Opens a file for reading and writing. */
    static int open(String path) {
        return check("open " + path, C.callVariadic("open", 2, path, 0x80002, 0));
    }

    static void close(int descriptor) {
        C.call("close", descriptor);
    }

    private static int check(String what, int result) {
        if (result < 0) {
            throw new IllegalStateException("cannot " + what + ": error " + -result);
        }
        return result;
    }

    @Override
    public void close() {
        close(descriptor);
    }
}
