// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.BYTE;
import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * Functions of rdma/rdma_cma.h, the connection manager. A function that fails returns the negative error number, as a
 * pointer or as a number.
 */
final class CmCalls {

    /** Library of the connection manager. It depends on the verbs library. */
    static final String LIBRARY_NAME = "librdmacm.so.1";

    private static final SymbolLookup LIBRARY = Native.library(LIBRARY_NAME);

    private static final MethodHandle GET_DEVICES = function("rdma_get_devices", FunctionDescriptor.of(LONG, LONG));
    private static final MethodHandle FREE_DEVICES = function("rdma_free_devices", FunctionDescriptor.ofVoid(LONG));
    private static final MethodHandle CREATE_EVENT_CHANNEL =
            function("rdma_create_event_channel", FunctionDescriptor.of(LONG));
    private static final MethodHandle DESTROY_EVENT_CHANNEL =
            function("rdma_destroy_event_channel", FunctionDescriptor.ofVoid(LONG));
    private static final MethodHandle CREATE_ID =
            function("rdma_create_id", FunctionDescriptor.of(INT, LONG, LONG, LONG, INT));
    private static final MethodHandle DESTROY_ID = function("rdma_destroy_id", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle BIND_ADDR = function("rdma_bind_addr", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle LISTEN = function("rdma_listen", FunctionDescriptor.of(INT, LONG, INT));
    private static final MethodHandle RESOLVE_ADDR =
            function("rdma_resolve_addr", FunctionDescriptor.of(INT, LONG, LONG, LONG, INT));
    private static final MethodHandle RESOLVE_ROUTE =
            function("rdma_resolve_route", FunctionDescriptor.of(INT, LONG, INT));
    private static final MethodHandle CONNECT = function("rdma_connect", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle ACCEPT = function("rdma_accept", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle REJECT = function("rdma_reject", FunctionDescriptor.of(INT, LONG, LONG, BYTE));
    private static final MethodHandle DISCONNECT = function("rdma_disconnect", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle GET_CM_EVENT =
            function("rdma_get_cm_event", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle ACK_CM_EVENT = function("rdma_ack_cm_event", FunctionDescriptor.of(INT, LONG));

    private static final int PORT_SPACE_TCP = 0x106;

    private CmCalls() {}

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return Native.function(LIBRARY, name, descriptor);
    }

    /**
     * Returns the devices as contexts of verbs. The library opens each context once and keeps it.
     *
     * @param count gets the number of devices
     */
    static long getDevices(MemorySegment count) {
        return Native.callForPointer(GET_DEVICES, count.address());
    }

    static void freeDevices(long devices) {
        Native.run(FREE_DEVICES, devices);
    }

    static long createEventChannel() {
        return Native.callForPointer(CREATE_EVENT_CHANNEL);
    }

    static void destroyEventChannel(long channel) {
        Native.run(DESTROY_EVENT_CHANNEL, channel);
    }

    /** @param out gets the identifier */
    static int createId(long channel, MemorySegment out) {
        return Native.call(CREATE_ID, channel, out.address(), 0L, PORT_SPACE_TCP);
    }

    /** Blocks until all events of the identifier are acknowledged. */
    static int destroyId(long id) {
        return Native.call(DESTROY_ID, id);
    }

    static int bindAddr(long id, MemorySegment address) {
        return Native.call(BIND_ADDR, id, address.address());
    }

    static int listen(long id, int backlog) {
        return Native.call(LISTEN, id, backlog);
    }

    static int resolveAddr(long id, MemorySegment destination, int timeoutMillis) {
        return Native.call(RESOLVE_ADDR, id, 0L, destination.address(), timeoutMillis);
    }

    static int resolveRoute(long id, int timeoutMillis) {
        return Native.call(RESOLVE_ROUTE, id, timeoutMillis);
    }

    /** Some devices, such as siw, return only after TCP has connected or has given up. */
    static int connect(long id, MemorySegment parameters) {
        return Native.call(CONNECT, id, parameters.address());
    }

    static int accept(long id, MemorySegment parameters) {
        return Native.call(ACCEPT, id, parameters.address());
    }

    static int reject(long id, MemorySegment privateData) {
        return Native.call(REJECT, id, privateData.address(), (byte) privateData.byteSize());
    }

    static int disconnect(long id) {
        return Native.call(DISCONNECT, id);
    }

    /** @param out gets the event */
    static int getCmEvent(long channel, MemorySegment out) {
        return Native.call(GET_CM_EVENT, channel, out.address());
    }

    static void ackCmEvent(long event) {
        int ignored = Native.call(ACK_CM_EVENT, event);
    }
}
