// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One byte from a Unix socket, with the descriptor that its sender may have passed (SCM_RIGHTS).
 *
 * @param octets number of bytes received: 1, or 0 at the end of the stream; else the negative error number
 * @param descriptor descriptor, which the receiver must close; -1 if none came
 * @param more whether the sender passed more descriptors, or one that the kernel could not pass on
 */
public record PassedDescriptor(int octets, int descriptor, boolean more) {

    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_CTRUNC = 0x8;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;

    private static final long MESSAGE_SIZE = 56;
    private static final long PART_OFFSET = 16;
    private static final long PARTS_OFFSET = 24;
    private static final long CONTROL_OFFSET = 32;
    private static final long CONTROL_LENGTH_OFFSET = 40;
    private static final long FLAGS_OFFSET = 48;

    private static final long PART_SIZE = 16;
    private static final long PART_LENGTH_OFFSET = 8;

    private static final long LEVEL_OFFSET = 8;
    private static final long TYPE_OFFSET = 12;
    private static final long DATA_OFFSET = 16;
    /** Length of a control message with one descriptor. There is no room for the padding, which could hold another. */
    private static final long CONTROL_SIZE = DATA_OFFSET + Integer.BYTES;

    /**
     * Receives a byte without waiting. The kernel drops descriptors beyond the first.
     *
     * @param socket descriptor of a Unix socket
     */
    public static PassedDescriptor receive(int socket) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment control = arena.allocate(CONTROL_SIZE, Long.BYTES);
            MemorySegment part = arena.allocate(PART_SIZE, Long.BYTES);
            part.set(ValueLayout.ADDRESS, 0, arena.allocate(1));
            part.set(ValueLayout.JAVA_LONG, PART_LENGTH_OFFSET, 1);
            MemorySegment message = arena.allocate(MESSAGE_SIZE, Long.BYTES);
            message.set(ValueLayout.ADDRESS, PART_OFFSET, part);
            message.set(ValueLayout.JAVA_LONG, PARTS_OFFSET, 1);
            int octets;
            do {
                message.set(ValueLayout.ADDRESS, CONTROL_OFFSET, control);
                message.set(ValueLayout.JAVA_LONG, CONTROL_LENGTH_OFFSET, CONTROL_SIZE);
                octets = NativeLibrary.C.call("recvmsg", socket, message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
            } while (octets == -LinuxErrno.EINTR);
            boolean passed = octets >= 0
                    && message.get(ValueLayout.JAVA_LONG, CONTROL_LENGTH_OFFSET) == CONTROL_SIZE
                    && control.get(ValueLayout.JAVA_LONG, 0) == CONTROL_SIZE
                    && control.get(ValueLayout.JAVA_INT, LEVEL_OFFSET) == SOL_SOCKET
                    && control.get(ValueLayout.JAVA_INT, TYPE_OFFSET) == SCM_RIGHTS;
            return new PassedDescriptor(
                    octets,
                    passed ? control.get(ValueLayout.JAVA_INT, DATA_OFFSET) : -1,
                    octets >= 0 && (message.get(ValueLayout.JAVA_INT, FLAGS_OFFSET) & MSG_CTRUNC) != 0);
        }
    }

    /** Closes the descriptor, if one came. */
    public void close() {
        if (descriptor >= 0) {
            NativeLibrary.C.call("close", descriptor);
        }
    }
}
