// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * A device's functions to post and to poll. The driver has put their addresses into the device's context. Creates no
 * objects. A function that fails returns a positive error number, except {@link #poll}.
 */
final class DataPath {

    private static final FunctionDescriptor POST = FunctionDescriptor.of(INT, LONG, LONG, LONG);

    private final MethodHandle pollCq;
    private final MethodHandle requestNotify;
    private final MethodHandle postSend;
    private final MethodHandle postReceive;
    private final MethodHandle postSharedReceive;

    /** @param context struct ibv_context */
    DataPath(long context) {
        pollCq = function(context, VerbsLayout.CONTEXT_POLL_CQ, FunctionDescriptor.of(INT, LONG, INT, LONG));
        requestNotify = function(context, VerbsLayout.CONTEXT_REQ_NOTIFY_CQ, FunctionDescriptor.of(INT, LONG, INT));
        postSend = function(context, VerbsLayout.CONTEXT_POST_SEND, POST);
        postReceive = function(context, VerbsLayout.CONTEXT_POST_RECV, POST);
        postSharedReceive = function(context, VerbsLayout.CONTEXT_POST_SRQ_RECV, POST);
    }

    private static MethodHandle function(long context, int offset, FunctionDescriptor descriptor) {
        return Native.fastFunction(Native.getLong(context + offset), descriptor);
    }

    /** @return the number of completions taken, or a negative number when the queue is broken */
    int poll(long cq, int limit, long completions) {
        try {
            return (int) pollCq.invokeExact(cq, limit, completions);
        } catch (Throwable e) {
            throw Native.impossible(e);
        }
    }

    int requestNotification(long cq, boolean solicitedOnly) {
        try {
            return (int) requestNotify.invokeExact(cq, solicitedOnly ? 1 : 0);
        } catch (Throwable e) {
            throw Native.impossible(e);
        }
    }

    /** @param failed gets the request that was refused */
    int postSend(long qp, long request, long failed) {
        return post(postSend, qp, request, failed);
    }

    int postReceive(long qp, long request, long failed) {
        return post(postReceive, qp, request, failed);
    }

    int postSharedReceive(long srq, long request, long failed) {
        return post(postSharedReceive, srq, request, failed);
    }

    private static int post(MethodHandle function, long queue, long request, long failed) {
        try {
            return (int) function.invokeExact(queue, request, failed);
        } catch (Throwable e) {
            throw Native.impossible(e);
        }
    }
}
