// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.linux;

import io.netty.channel.unix.Errors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Linux calls that Netty's channels lack: to send with flags, and to receive without an event. For one thread;
 * allocates nothing per call.
 */
public final class SocketCalls {

    /** Flag for {@link #send}: data that is sent later never becomes part of the last segment of this call. */
    public static final int MSG_EOR = 0x80;

    /** Result of {@link #receive} when the peer has sent nothing yet, and may still send. */
    public static final int NOTHING = -1;

    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();
    private static final MethodHandle SEND = find("send");
    private static final MethodHandle RECV = find("recv");

    private final MemorySegment state = Arena.ofAuto().allocate(CALL_STATE);

    /** Finds send or recv, which have the same signature. */
    private static MethodHandle find(String name) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT),
                Linker.Option.captureCallState("errno"));
    }

    /**
     * Sends without waiting.
     *
     * @param descriptor a TCP socket that does not block
     * @param address of native memory, which the caller keeps
     * @param octets bytes to send, at least 1
     * @return bytes taken, 0 when the socket is full
     */
    public long send(int descriptor, long address, long octets, int flags) throws IOException {
        while (true) {
            long sent;
            try {
                sent = (long) SEND.invokeExact(state, descriptor, address, octets, flags | MSG_NOSIGNAL);
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
            if (sent >= 0) {
                return sent;
            }
            int error = (int) ERRNO.get(state, 0L);
            if (error != EINTR) {
                // Returns 0 for EAGAIN and throws for all other errors.
                return Errors.ioResult("send", -error);
            }
        }
    }

    /**
     * Receives without waiting.
     *
     * @param descriptor a TCP socket that does not block
     * @param address of native memory, which the caller keeps
     * @param octets bytes of room there, at least 1
     * @return bytes received, 0 after the peer's last byte, or {@link #NOTHING} for now
     */
    public long receive(int descriptor, long address, long octets) throws IOException {
        while (true) {
            long received;
            try {
                received = (long) RECV.invokeExact(state, descriptor, address, octets, 0);
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
            if (received >= 0) {
                return received;
            }
            int error = (int) ERRNO.get(state, 0L);
            if (error == EAGAIN) {
                return NOTHING;
            }
            if (error != EINTR) {
                return Errors.ioResult("recv", -error);
            }
        }
    }
}
