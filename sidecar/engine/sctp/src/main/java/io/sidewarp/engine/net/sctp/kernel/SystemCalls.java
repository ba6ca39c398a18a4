// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

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
 * Functions of the C library that the stack needs. Pointers are passed as 64-bit numbers, which costs no objects. A
 * call that fails returns the negative error number; each caller brings the memory of {@link #newCallState}.
 */
final class SystemCalls {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY = LINKER.defaultLookup();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();

    private static final MethodHandle SOCKET = find("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle LISTEN = find("listen", FunctionDescriptor.of(INT, INT, INT));
    private static final MethodHandle CLOSE = find("close", FunctionDescriptor.of(INT, INT));
    private static final MethodHandle SET_OPTION =
            find("setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, LONG, INT));
    private static final MethodHandle GET_OPTION =
            find("getsockopt", FunctionDescriptor.of(INT, INT, INT, INT, LONG, LONG));
    private static final MethodHandle GET_NAME = find("getsockname", FunctionDescriptor.of(INT, INT, LONG, LONG));
    private static final MethodHandle SEND = find("sendmsg", FunctionDescriptor.of(LONG, INT, LONG, INT));
    private static final MethodHandle RECEIVE = find("recvmsg", FunctionDescriptor.of(LONG, INT, LONG, INT));
    private static final MethodHandle EPOLL_CREATE = find("epoll_create1", FunctionDescriptor.of(INT, INT));
    private static final MethodHandle EPOLL_CONTROL =
            find("epoll_ctl", FunctionDescriptor.of(INT, INT, INT, INT, LONG));
    private static final MethodHandle EPOLL_WAIT = find("epoll_wait", FunctionDescriptor.of(INT, INT, LONG, INT, INT));
    private static final MethodHandle EVENT = find("eventfd", FunctionDescriptor.of(INT, INT, INT));
    private static final MethodHandle EVENT_WRITE = find("eventfd_write", FunctionDescriptor.of(INT, INT, LONG));
    private static final MethodHandle CLOCK_RESOLUTION = find("clock_getres", FunctionDescriptor.of(INT, INT, LONG));

    private SystemCalls() {}

    private static MethodHandle find(String name, FunctionDescriptor descriptor) {
        MemorySegment symbol =
                LIBRARY.find(name).orElseThrow(() -> new LinkageError("the C library has no function " + name));
        return LINKER.downcallHandle(symbol, descriptor, CAPTURE_ERRNO);
    }

    /** Allocates memory for the error number of the calls of one thread at a time. */
    static MemorySegment newCallState(Arena arena) {
        return arena.allocate(CALL_STATE);
    }

    private static int error(MemorySegment state) {
        return -(int) ERRNO.get(state, 0L);
    }

    private static AssertionError impossible(Throwable e) {
        return new AssertionError("a native call cannot throw", e);
    }

    /** @return the socket */
    static int socket(MemorySegment state, int domain, int type, int protocol) {
        try {
            int socket = (int) SOCKET.invokeExact(state, domain, type, protocol);
            return socket < 0 ? error(state) : socket;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int listen(MemorySegment state, int socket, int backlog) {
        try {
            return (int) LISTEN.invokeExact(state, socket, backlog) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static void close(MemorySegment state, int descriptor) {
        try {
            // The descriptor is gone, whatever the call returns.
            int ignored = (int) CLOSE.invokeExact(state, descriptor);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return result of the option, which is 0 or an identifier */
    static int setOption(MemorySegment state, int socket, int level, int option, long value, int length) {
        try {
            int result = (int) SET_OPTION.invokeExact(state, socket, level, option, value, length);
            return result < 0 ? error(state) : result;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return result of the option, which is 0 or a descriptor */
    static int getOption(MemorySegment state, int socket, int level, int option, long value, long length) {
        try {
            int result = (int) GET_OPTION.invokeExact(state, socket, level, option, value, length);
            return result < 0 ? error(state) : result;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int getName(MemorySegment state, int socket, long address, long length) {
        try {
            return (int) GET_NAME.invokeExact(state, socket, address, length) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return bytes sent */
    static int send(MemorySegment state, int socket, long header, int flags) {
        try {
            long sent = (long) SEND.invokeExact(state, socket, header, flags);
            return sent < 0 ? error(state) : (int) sent;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return bytes received */
    static int receive(MemorySegment state, int socket, long header, int flags) {
        try {
            long received = (long) RECEIVE.invokeExact(state, socket, header, flags);
            return received < 0 ? error(state) : (int) received;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return the descriptor */
    static int epollCreate(MemorySegment state, int flags) {
        try {
            int descriptor = (int) EPOLL_CREATE.invokeExact(state, flags);
            return descriptor < 0 ? error(state) : descriptor;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int epollControl(MemorySegment state, int epoll, int operation, int descriptor, long event) {
        try {
            return (int) EPOLL_CONTROL.invokeExact(state, epoll, operation, descriptor, event) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /**
     * @param timeout milliseconds, -1 for ever
     * @return events found
     */
    static int epollWait(MemorySegment state, int epoll, long events, int capacity, int timeout) {
        try {
            int count = (int) EPOLL_WAIT.invokeExact(state, epoll, events, capacity, timeout);
            return count < 0 ? error(state) : count;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return the descriptor */
    static int event(MemorySegment state, int flags) {
        try {
            int descriptor = (int) EVENT.invokeExact(state, 0, flags);
            return descriptor < 0 ? error(state) : descriptor;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static int eventWrite(MemorySegment state, int descriptor, long value) {
        try {
            return (int) EVENT_WRITE.invokeExact(state, descriptor, value) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @param timespec address where the resolution is written */
    static int clockResolution(MemorySegment state, int clock, long timespec) {
        try {
            return (int) CLOCK_RESOLUTION.invokeExact(state, clock, timespec) < 0 ? error(state) : 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }
}
