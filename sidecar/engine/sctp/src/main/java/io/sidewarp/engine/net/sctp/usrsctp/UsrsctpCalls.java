// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Functions of usrsctp.h, version 0.9.5. The first use of this class initializes the library; a caller that only checks
 * for the library does not pay for this.
 */
final class UsrsctpCalls {

    private static final SymbolLookup LIBRARY = Usrsctp.find(Usrsctp.LIBRARY);

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    static final NativeFunction INIT = procedure("init_nothreads", SHORT, LONG, LONG);
    static final NativeFunction OFFLOAD = procedure("enable_crc32c_offload");
    static final NativeFunction TIMERS = procedure("handle_timers", INT);
    static final NativeFunction REGISTER = procedure("register_address", LONG);
    static final NativeFunction INPUT = procedure("conninput", LONG, LONG, LONG, BYTE);
    static final NativeFunction CLOSE = procedure("close", LONG);
    static final NativeFunction SOCKET = function("socket", LONG, INT, INT, INT, LONG, LONG, INT, LONG);
    static final NativeFunction NON_BLOCKING = function("set_non_blocking", INT, LONG, INT);
    static final NativeFunction BIND = function("bind", INT, LONG, LONG, INT);
    static final NativeFunction LISTEN = function("listen", INT, LONG, INT);
    static final NativeFunction CONNECT = function("connect", INT, LONG, LONG, INT);
    static final NativeFunction SET_OPTION = function("setsockopt", INT, LONG, INT, INT, LONG, INT);
    static final NativeFunction GET_OPTION = function("getsockopt", INT, LONG, INT, INT, LONG, LONG);
    static final NativeFunction SEND = function("sendv", LONG, LONG, LONG, LONG, LONG, INT, LONG, INT, INT, INT);
    static final NativeFunction RECEIVE = function("recvv", LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG);

    /** Most queued chunks of an association. Its send buffer limits their bytes. */
    private static final int MAX_QUEUED_CHUNKS = 1 << 20;

    static {
        initialize();
    }

    private UsrsctpCalls() {}

    private static void initialize() {
        MemorySegment state = NativeFunction.newCallState(Arena.global());
        INIT.call(state, 0, packetUpcall(), 0);
        OFFLOAD.call(state, 0);
        // Features that DDP does not use are disabled, so that no peer can use them.
        for (String feature : new String[] {"ecn", "pr", "asconf", "auth", "reconfig", "nrsack", "pktdrop"}) {
            setParameter(state, "sctp_" + feature + "_enable", 0);
        }
        setParameter(state, "sctp_max_chunks_on_queue", MAX_QUEUED_CHUNKS);
    }

    /** Returns the address of a function that calls {@link Usrsctp#onPacket}. */
    private static long packetUpcall() {
        MethodType type = MethodType.methodType(int.class, long.class, long.class, long.class, byte.class, byte.class);
        MethodHandle target;
        try {
            target = MethodHandles.lookup().findStatic(Usrsctp.class, "onPacket", type);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the upcall for packets", e);
        }
        FunctionDescriptor descriptor = FunctionDescriptor.of(INT, LONG, LONG, LONG, BYTE, BYTE);
        return Linker.nativeLinker()
                .upcallStub(target, descriptor, Arena.global())
                .address();
    }

    private static void setParameter(MemorySegment state, String name, int value) {
        NativeFunction set = function("sysctl_set_" + name, INT, INT);
        if (set.call(state, value) != 0) {
            throw new LinkageError("this usrsctp does not take " + value + " for " + name);
        }
    }

    private static NativeFunction procedure(String name, MemoryLayout... arguments) {
        return find(name, FunctionDescriptor.ofVoid(arguments));
    }

    private static NativeFunction function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return find(name, FunctionDescriptor.of(result, arguments));
    }

    private static NativeFunction find(String name, FunctionDescriptor descriptor) {
        return NativeFunction.find("this usrsctp", LIBRARY, "usrsctp_" + name, descriptor);
    }
}
