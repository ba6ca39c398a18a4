// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * Functions of infiniband/verbs.h for set-up. A function that fails returns the negative error number, as a pointer or
 * as a number.
 */
final class VerbsCalls {

    private static final SymbolLookup LIBRARY = Native.library("libibverbs.so.1");

    private static final MethodHandle QUERY_DEVICE =
            function("ibv_query_device", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle ALLOC_PD = function("ibv_alloc_pd", FunctionDescriptor.of(LONG, LONG));
    private static final MethodHandle DEALLOC_PD = function("ibv_dealloc_pd", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle REG_MR =
            function("ibv_reg_mr", FunctionDescriptor.of(LONG, LONG, LONG, LONG, INT));
    private static final MethodHandle DEREG_MR = function("ibv_dereg_mr", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle CREATE_COMP_CHANNEL =
            function("ibv_create_comp_channel", FunctionDescriptor.of(LONG, LONG));
    private static final MethodHandle DESTROY_COMP_CHANNEL =
            function("ibv_destroy_comp_channel", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle CREATE_CQ =
            function("ibv_create_cq", FunctionDescriptor.of(LONG, LONG, INT, LONG, LONG, INT));
    private static final MethodHandle DESTROY_CQ = function("ibv_destroy_cq", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle GET_CQ_EVENT =
            function("ibv_get_cq_event", FunctionDescriptor.of(INT, LONG, LONG, LONG));
    private static final MethodHandle ACK_CQ_EVENTS =
            function("ibv_ack_cq_events", FunctionDescriptor.ofVoid(LONG, INT));
    private static final MethodHandle CREATE_SRQ = function("ibv_create_srq", FunctionDescriptor.of(LONG, LONG, LONG));
    private static final MethodHandle MODIFY_SRQ =
            function("ibv_modify_srq", FunctionDescriptor.of(INT, LONG, LONG, INT));
    private static final MethodHandle DESTROY_SRQ = function("ibv_destroy_srq", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle CREATE_QP = function("ibv_create_qp", FunctionDescriptor.of(LONG, LONG, LONG));
    private static final MethodHandle MODIFY_QP =
            function("ibv_modify_qp", FunctionDescriptor.of(INT, LONG, LONG, INT));
    private static final MethodHandle DESTROY_QP = function("ibv_destroy_qp", FunctionDescriptor.of(INT, LONG));
    private static final MethodHandle GET_ASYNC_EVENT =
            function("ibv_get_async_event", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle ACK_ASYNC_EVENT =
            function("ibv_ack_async_event", FunctionDescriptor.ofVoid(LONG));

    private VerbsCalls() {}

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return Native.function(LIBRARY, name, descriptor);
    }

    /** Makes an error number negative. Some functions return positive error numbers. */
    private static int negative(int result) {
        return -Math.abs(result);
    }

    static int queryDevice(long context, MemorySegment attributes) {
        return negative(Native.call(QUERY_DEVICE, context, attributes.address()));
    }

    static long allocPd(long context) {
        return Native.callForPointer(ALLOC_PD, context);
    }

    static int deallocPd(long pd) {
        return negative(Native.call(DEALLOC_PD, pd));
    }

    /** Pins the memory, which may take long. */
    static long regMr(long pd, long address, long length, int access) {
        return Native.callForPointer(REG_MR, pd, address, length, access);
    }

    static int deregMr(long mr) {
        return negative(Native.call(DEREG_MR, mr));
    }

    static long createCompChannel(long context) {
        return Native.callForPointer(CREATE_COMP_CHANNEL, context);
    }

    static int destroyCompChannel(long channel) {
        return negative(Native.call(DESTROY_COMP_CHANNEL, channel));
    }

    static long createCq(long context, int entries, long cookie, long channel) {
        return Native.callForPointer(CREATE_CQ, context, entries, cookie, channel, 0);
    }

    /** Blocks until all events of the queue are acknowledged. */
    static int destroyCq(long cq) {
        return negative(Native.call(DESTROY_CQ, cq));
    }

    /** @param out gets two pointers: the completion queue and its cookie */
    static int getCqEvent(long channel, MemorySegment out) {
        return Native.call(GET_CQ_EVENT, channel, out.address(), out.address() + Long.BYTES);
    }

    static void ackCqEvents(long cq, int events) {
        Native.run(ACK_CQ_EVENTS, cq, events);
    }

    static long createSrq(long pd, MemorySegment attributes) {
        return Native.callForPointer(CREATE_SRQ, pd, attributes.address());
    }

    static int modifySrq(long srq, MemorySegment attributes, int mask) {
        return negative(Native.call(MODIFY_SRQ, srq, attributes.address(), mask));
    }

    static int destroySrq(long srq) {
        return negative(Native.call(DESTROY_SRQ, srq));
    }

    static long createQp(long pd, MemorySegment attributes) {
        return Native.callForPointer(CREATE_QP, pd, attributes.address());
    }

    static int modifyQp(long qp, MemorySegment attributes, int mask) {
        return negative(Native.call(MODIFY_QP, qp, attributes.address(), mask));
    }

    static int destroyQp(long qp) {
        return negative(Native.call(DESTROY_QP, qp));
    }

    static int getAsyncEvent(long context, MemorySegment event) {
        return Native.call(GET_ASYNC_EVENT, context, event.address());
    }

    static void ackAsyncEvent(MemorySegment event) {
        Native.run(ACK_ASYNC_EVENT, event.address());
    }
}
