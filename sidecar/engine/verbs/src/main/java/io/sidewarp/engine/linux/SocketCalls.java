// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Socket calls that Netty's channels lack: to send with flags, and to receive without an event. A call that fails
 * returns the negative error number. For one thread; allocates nothing per call.
 */
public final class SocketCalls {

    /** Flag for {@link #send}: data that is sent later never becomes part of the last segment of this call. */
    public static final int MSG_EOR = 0x80;

    private static final int MSG_NOSIGNAL = 0x4000;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();
    private static final MethodHandle SEND = find("send", ValueLayout.JAVA_LONG);
    private static final MethodHandle RECV = find("recv", ValueLayout.JAVA_LONG);
    private static final MethodHandle SEND_ARRAY = find("send", ValueLayout.ADDRESS, Linker.Option.critical(true));
    private static final MethodHandle RECV_ARRAY = find("recv", ValueLayout.ADDRESS, Linker.Option.critical(true));

    private final MemorySegment state = Arena.ofAuto().allocate(CALL_STATE);

    /** Finds send or recv, which have the same signature. */
    private static MethodHandle find(String name, ValueLayout pointer, Linker.Option... options) {
        Linker.Option[] all = Arrays.copyOf(options, options.length + 1);
        all[options.length] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        pointer,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT),
                all);
    }

    /**
     * Sends without waiting.
     *
     * @param descriptor a TCP socket that does not block
     * @param address of native memory, which the caller keeps
     * @param octets bytes to send, at least 1
     * @return bytes taken, or -EAGAIN when the socket is full
     */
    public int send(int descriptor, long address, long octets, int flags) {
        int result;
        do {
            try {
                result = result((long) SEND.invokeExact(state, descriptor, address, octets, flags | MSG_NOSIGNAL));
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Receives without waiting.
     *
     * @param descriptor a TCP socket that does not block
     * @param address of native memory, which the caller keeps
     * @param octets bytes of room there, at least 1
     * @return bytes received, 0 after the peer's last byte, or -EAGAIN when the peer has sent nothing yet
     */
    public int receive(int descriptor, long address, long octets) {
        int result;
        do {
            try {
                result = result((long) RECV.invokeExact(state, descriptor, address, octets, 0));
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Sends from an array without waiting. No garbage collection can begin during the call, which takes some
     * microseconds for 100 KiB.
     *
     * @param array segment of an array. It is kept by the caller, because a new one would be an object per call
     * @return as of {@link #send(int, long, long, int)}
     */
    public int send(int descriptor, MemorySegment array, long octets, int flags) {
        int result;
        do {
            try {
                result = result((long) SEND_ARRAY.invokeExact(state, descriptor, array, octets, flags | MSG_NOSIGNAL));
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Receives into an array without waiting. No garbage collection can begin during the call, which takes some
     * microseconds for 100 KiB.
     *
     * @param array part of an array, at least one byte. It is kept by the caller, because a new one would be an object
     *     per call
     * @return as of {@link #receive(int, long, long)}
     */
    public int receive(int descriptor, MemorySegment array) {
        int result;
        do {
            try {
                result = result((long) RECV_ARRAY.invokeExact(state, descriptor, array, array.byteSize(), 0));
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    private int result(long returned) {
        return returned >= 0 ? (int) returned : -(int) ERRNO.get(state, 0L);
    }
}
