// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.linux.NativeLibrary;
import java.lang.foreign.MemorySegment;

/**
 * Functions of infiniband/verbs.h for set-up. A function that fails returns the negative error number, as a pointer or
 * as a number.
 */
final class VerbsCalls {

    private static final NativeLibrary LIBRARY = Native.library("libibverbs.so.1");

    private VerbsCalls() {}

    /** Makes an error number negative. Some functions return positive error numbers. */
    private static int negative(int result) {
        return -Math.abs(result);
    }

    static int queryDevice(long context, MemorySegment attributes) {
        return negative(LIBRARY.call("ibv_query_device", context, attributes));
    }

    static long allocPd(long context) {
        return LIBRARY.callForPointer("ibv_alloc_pd", context);
    }

    static int deallocPd(long pd) {
        return negative(LIBRARY.call("ibv_dealloc_pd", pd));
    }

    /** Pins the memory, which may take long. */
    static long regMr(long pd, long address, long length, int access) {
        return LIBRARY.callForPointer("ibv_reg_mr", pd, address, length, access);
    }

    static int deregMr(long mr) {
        return negative(LIBRARY.call("ibv_dereg_mr", mr));
    }

    static long createCompChannel(long context) {
        return LIBRARY.callForPointer("ibv_create_comp_channel", context);
    }

    static int destroyCompChannel(long channel) {
        return negative(LIBRARY.call("ibv_destroy_comp_channel", channel));
    }

    static long createCq(long context, int entries, long cookie, long channel) {
        return LIBRARY.callForPointer("ibv_create_cq", context, entries, cookie, channel, 0);
    }

    /** Blocks until all events of the queue are acknowledged. */
    static int destroyCq(long cq) {
        return negative(LIBRARY.call("ibv_destroy_cq", cq));
    }

    /** @param out gets two pointers: the completion queue and its cookie */
    static int getCqEvent(long channel, MemorySegment out) {
        return LIBRARY.call("ibv_get_cq_event", channel, out, out.address() + Long.BYTES);
    }

    static void ackCqEvents(long cq, int events) {
        LIBRARY.run("ibv_ack_cq_events", cq, events);
    }

    static long createSrq(long pd, MemorySegment attributes) {
        return LIBRARY.callForPointer("ibv_create_srq", pd, attributes);
    }

    static int modifySrq(long srq, MemorySegment attributes, int mask) {
        return negative(LIBRARY.call("ibv_modify_srq", srq, attributes, mask));
    }

    static int destroySrq(long srq) {
        return negative(LIBRARY.call("ibv_destroy_srq", srq));
    }

    static long createQp(long pd, MemorySegment attributes) {
        return LIBRARY.callForPointer("ibv_create_qp", pd, attributes);
    }

    static int modifyQp(long qp, MemorySegment attributes, int mask) {
        return negative(LIBRARY.call("ibv_modify_qp", qp, attributes, mask));
    }

    static int destroyQp(long qp) {
        return negative(LIBRARY.call("ibv_destroy_qp", qp));
    }

    static int getAsyncEvent(long context, MemorySegment event) {
        return LIBRARY.call("ibv_get_async_event", context, event);
    }

    static void ackAsyncEvent(MemorySegment event) {
        LIBRARY.run("ibv_ack_async_event", event);
    }
}
