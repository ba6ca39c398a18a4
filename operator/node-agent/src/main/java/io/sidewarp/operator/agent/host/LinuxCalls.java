// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

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
 * Functions of the C library that the JDK does not offer. They open and use netlink sockets, and write an attribute so
 * that the driver's error number is visible. A failed call returns the negative error number.
 */
final class LinuxCalls {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final MemoryLayout POINTER = ValueLayout.ADDRESS;

    private static final int O_WRONLY = 1;
    private static final int O_TRUNC = 0x200;
    private static final int O_CLOEXEC = 0x80000;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();

    private static final MethodHandle SOCKET = find("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle CLOSE = find("close", FunctionDescriptor.of(INT, INT));
    private static final MethodHandle SET_OPTION =
            find("setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, POINTER, INT));
    private static final MethodHandle SEND = find("send", FunctionDescriptor.of(LONG, INT, POINTER, LONG, INT));
    private static final MethodHandle RECEIVE = find("recv", FunctionDescriptor.of(LONG, INT, POINTER, LONG, INT));
    private static final MethodHandle OPEN =
            find("open", FunctionDescriptor.of(INT, POINTER, INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle WRITE = find("write", FunctionDescriptor.of(LONG, INT, POINTER, LONG));

    private LinuxCalls() {}

    private static MethodHandle find(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        all[0] = Linker.Option.captureCallState("errno");
        System.arraycopy(options, 0, all, 1, options.length);
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor, all);
    }

    /** A call that stores its error number in {@code state}. */
    private interface Call {
        long invoke(MemorySegment state) throws Throwable;
    }

    private static int result(Call call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            long returned = call.invoke(state);
            return returned == -1 ? -(int) ERRNO.get(state, 0L) : (int) returned;
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            // Native calls throw nothing of their own.
            throw new IllegalStateException(e);
        }
    }

    /** @return descriptor of the socket, or the negative error number */
    static int socket(int domain, int type, int protocol) {
        return result(state -> (int) SOCKET.invokeExact(state, domain, type, protocol));
    }

    /** Releases the descriptor, even if close(2) returns an error. */
    static void close(int descriptor) {
        result(state -> (int) CLOSE.invokeExact(state, descriptor));
    }

    static int setOption(int socket, int level, int option, MemorySegment value) {
        return result(
                state -> (int) SET_OPTION.invokeExact(state, socket, level, option, value, (int) value.byteSize()));
    }

    /** @return bytes sent, or the negative error number */
    static int send(int socket, MemorySegment message) {
        return result(state -> (long) SEND.invokeExact(state, socket, message, message.byteSize(), 0));
    }

    /**
     * @return bytes received, or the negative error number; with MSG_TRUNC the full length of a message that does not
     *     fit
     */
    static int receive(int socket, MemorySegment into, int flags) {
        return result(state -> (long) RECEIVE.invokeExact(state, socket, into, into.byteSize(), flags));
    }

    /**
     * Opens an existing file for writing, and writes it from its beginning with one call.
     *
     * @return bytes written, or the negative error number
     */
    static int overwrite(String path, byte[] bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path);
            MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            int descriptor = result(state -> (int) OPEN.invokeExact(state, name, O_WRONLY | O_TRUNC | O_CLOEXEC));
            if (descriptor < 0) {
                return descriptor;
            }
            try {
                return result(state -> (long) WRITE.invokeExact(state, descriptor, value, value.byteSize()));
            } finally {
                close(descriptor);
            }
        }
    }
}
