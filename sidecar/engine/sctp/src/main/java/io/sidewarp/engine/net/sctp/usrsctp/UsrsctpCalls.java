// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Functions of usrsctp.h, version 0.9.5. Pointers are passed as 64-bit numbers, which costs no objects. A call that
 * fails returns the negative error number.
 */
final class UsrsctpCalls {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY = Usrsctp.find();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();

    private static final MethodHandle INIT =
            plain("usrsctp_init_nothreads", FunctionDescriptor.ofVoid(SHORT, LONG, LONG));
    private static final MethodHandle OFFLOAD = plain("usrsctp_enable_crc32c_offload", FunctionDescriptor.ofVoid());
    private static final MethodHandle TIMERS = plain("usrsctp_handle_timers", FunctionDescriptor.ofVoid(INT));
    private static final MethodHandle REGISTER = plain("usrsctp_register_address", FunctionDescriptor.ofVoid(LONG));
    private static final MethodHandle INPUT =
            plain("usrsctp_conninput", FunctionDescriptor.ofVoid(LONG, LONG, LONG, BYTE));
    private static final MethodHandle CLOSE = plain("usrsctp_close", FunctionDescriptor.ofVoid(LONG));
    private static final MethodHandle SOCKET =
            failing("usrsctp_socket", FunctionDescriptor.of(LONG, INT, INT, INT, LONG, LONG, INT, LONG));
    private static final MethodHandle NON_BLOCKING =
            failing("usrsctp_set_non_blocking", FunctionDescriptor.of(INT, LONG, INT));
    private static final MethodHandle BIND = failing("usrsctp_bind", FunctionDescriptor.of(INT, LONG, LONG, INT));
    private static final MethodHandle LISTEN = failing("usrsctp_listen", FunctionDescriptor.of(INT, LONG, INT));
    private static final MethodHandle CONNECT = failing("usrsctp_connect", FunctionDescriptor.of(INT, LONG, LONG, INT));
    private static final MethodHandle SET_OPTION =
            failing("usrsctp_setsockopt", FunctionDescriptor.of(INT, LONG, INT, INT, LONG, INT));
    private static final MethodHandle GET_OPTION =
            failing("usrsctp_getsockopt", FunctionDescriptor.of(INT, LONG, INT, INT, LONG, LONG));
    private static final MethodHandle SEND =
            failing("usrsctp_sendv", FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, INT, LONG, INT, INT, INT));
    private static final MethodHandle RECEIVE =
            failing("usrsctp_recvv", FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG));

    private UsrsctpCalls() {}

    private static MethodHandle plain(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(symbol(name), descriptor);
    }

    private static MethodHandle failing(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(symbol(name), descriptor, CAPTURE_ERRNO);
    }

    private static MemorySegment symbol(String name) {
        return LIBRARY.find(name).orElseThrow(() -> new LinkageError("this usrsctp has no function " + name));
    }

    /** Allocates memory for the error number of {@link #error}; each caller brings its own. */
    static MemorySegment newCallState(Arena arena) {
        return arena.allocate(CALL_STATE);
    }

    private static int error(MemorySegment state) {
        return -(int) ERRNO.get(state, 0L);
    }

    private static AssertionError impossible(Throwable e) {
        return new AssertionError("a native call cannot throw", e);
    }

    /**
     * Returns the address of a function that calls {@code (long address, long packet, long length, byte, byte) -> int}.
     */
    static long packetUpcall(MethodHandle target) {
        return LINKER.upcallStub(target, FunctionDescriptor.of(INT, LONG, LONG, LONG, BYTE, BYTE), Arena.global())
                .address();
    }

    static void initNoThreads(long packetUpcall) {
        try {
            INIT.invokeExact((short) 0, packetUpcall, 0L);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static void enableCrc32cOffload() {
        try {
            OFFLOAD.invokeExact();
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static void setSysctl(String name, int value) {
        MethodHandle set = plain("usrsctp_sysctl_set_" + name, FunctionDescriptor.of(INT, INT));
        try {
            if ((int) set.invokeExact(value) != 0) {
                throw new LinkageError("this usrsctp does not take " + value + " for " + name);
            }
        } catch (LinkageError e) {
            throw e;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static void handleTimers(int elapsedMillis) {
        try {
            TIMERS.invokeExact(elapsedMillis);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static void registerAddress(long address) {
        try {
            REGISTER.invokeExact(address);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static void input(long address, long packet, long length) {
        try {
            INPUT.invokeExact(address, packet, length, (byte) 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static void close(long socket) {
        try {
            CLOSE.invokeExact(socket);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static long socket(MemorySegment state, int domain, int type, int protocol) {
        try {
            long socket = (long) SOCKET.invokeExact(state, domain, type, protocol, 0L, 0L, 0, 0L);
            return socket == 0 ? error(state) : socket;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int setNonBlocking(MemorySegment state, long socket) {
        try {
            return (int) NON_BLOCKING.invokeExact(state, socket, 1) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int bind(MemorySegment state, long socket, long address, int length) {
        try {
            return (int) BIND.invokeExact(state, socket, address, length) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int listen(MemorySegment state, long socket) {
        try {
            return (int) LISTEN.invokeExact(state, socket, 1) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int connect(MemorySegment state, long socket, long address, int length) {
        try {
            return (int) CONNECT.invokeExact(state, socket, address, length) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int setOption(MemorySegment state, long socket, int level, int option, long value, int length) {
        try {
            return (int) SET_OPTION.invokeExact(state, socket, level, option, value, length) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int getOption(MemorySegment state, long socket, int level, int option, long value, long length) {
        try {
            return (int) GET_OPTION.invokeExact(state, socket, level, option, value, length) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return bytes sent */
    static int send(MemorySegment state, long socket, long data, int length, long info, int infoLength, int infoType) {
        try {
            long sent =
                    (long) SEND.invokeExact(state, socket, data, (long) length, 0L, 0, info, infoLength, infoType, 0);
            return sent < 0 ? error(state) : (int) sent;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return bytes received */
    static int receive(
            MemorySegment state,
            long socket,
            long data,
            int length,
            long info,
            long infoLength,
            long infoType,
            long flags) {
        try {
            long received = (long)
                    RECEIVE.invokeExact(state, socket, data, (long) length, 0L, 0L, info, infoLength, infoType, flags);
            return received < 0 ? error(state) : (int) received;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }
}
