// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;

/** Functions of the C library that the stack needs. */
final class SystemCalls {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    static final NativeFunction SOCKET = find("socket", INT, INT, INT, INT);
    static final NativeFunction LISTEN = find("listen", INT, INT, INT);
    static final NativeFunction CLOSE = find("close", INT, INT);
    static final NativeFunction SET_OPTION = find("setsockopt", INT, INT, INT, INT, LONG, INT);
    static final NativeFunction GET_OPTION = find("getsockopt", INT, INT, INT, INT, LONG, LONG);
    static final NativeFunction GET_NAME = find("getsockname", INT, INT, LONG, LONG);
    static final NativeFunction SEND = find("sendmsg", LONG, INT, LONG, INT);
    static final NativeFunction RECEIVE = find("recvmsg", LONG, INT, LONG, INT);
    static final NativeFunction EPOLL_CREATE = find("epoll_create1", INT, INT);
    static final NativeFunction EPOLL_CONTROL = find("epoll_ctl", INT, INT, INT, INT, LONG);
    static final NativeFunction EPOLL_WAIT = find("epoll_wait", INT, INT, LONG, INT, INT);
    static final NativeFunction EVENT = find("eventfd", INT, INT, INT);
    static final NativeFunction EVENT_WRITE = find("eventfd_write", INT, INT, LONG);
    static final NativeFunction CLOCK_RESOLUTION = find("clock_getres", INT, INT, LONG);

    private SystemCalls() {}

    private static NativeFunction find(String name, MemoryLayout result, MemoryLayout... arguments) {
        return NativeFunction.find(
                "the C library", Linker.nativeLinker().defaultLookup(), name, FunctionDescriptor.of(result, arguments));
    }
}
