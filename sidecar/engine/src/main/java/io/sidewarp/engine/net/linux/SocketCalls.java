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

/** The call of Linux to send with flags, which Netty's channels do not have. For one thread; allocates nothing per call. */
public final class SocketCalls {

    /** What is sent later never becomes part of the last segment of this. */
    public static final int MSG_EOR = 0x80;

    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int EINTR = 4;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();
    private static final MethodHandle SEND = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("send"),
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT),
            Linker.Option.captureCallState("errno"));

    private final MemorySegment state = Arena.ofAuto().allocate(CALL_STATE);

    /**
     * Sends without waiting.
     *
     * @param descriptor a TCP socket that does not block
     * @param address of native memory, which the caller keeps
     * @param octets at least 1
     * @return octets taken, 0 when the socket is full
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
                // None for EAGAIN; throws for all else.
                return Errors.ioResult("send", -error);
            }
        }
    }
}
