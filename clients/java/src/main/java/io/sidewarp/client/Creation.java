// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Calls that create an object at the sidecar. If the caller stops waiting, the call continues until the sidecar answers
 * or the session ends. Cancelling the call would lose the response that names the object. An object in a late answer is
 * released.
 */
final class Creation {

    private static final System.Logger LOG = System.getLogger(Creation.class.getName());

    private Creation() {}

    /**
     * Creates an object and waits for it, no longer than the time limit of calls.
     *
     * @param what action of the sidecar, for the message
     * @param undo releases an object that nobody waits for; runs on the event loop
     * @throws SidewarpException the failure of the call; CANCELLED if this thread is interrupted; DEADLINE_EXCEEDED if
     *     the time limit expires
     */
    static <Q, R, T> T create(
            GrpcSession session,
            MethodDescriptor<Q, R> method,
            Q request,
            String what,
            Function<R, T> conversion,
            Consumer<T> undo) {
        Transport.checkMayBlock();
        return await(
                session.client(),
                session.start(method, request, CallOptions.DEFAULT).<T, T>created(conversion, undo),
                what);
    }

    /**
     * Waits for the object of a call without a time limit of its own, no longer than the time limit of other calls.
     *
     * @param what action of the sidecar, for the message
     */
    static <T> T await(GrpcClient client, CompletableFuture<T> created, String what) {
        Duration limit = client.options().callTimeout();
        try {
            return CallFuture.await(created.orTimeout(Durations.nanos(limit), TimeUnit.NANOSECONDS));
        } catch (SidewarpException e) {
            if (e.getCause() instanceof TimeoutException) {
                throw new SidewarpException(
                        Status.Code.DEADLINE_EXCEEDED,
                        "the sidecar at " + client.target() + " did not " + what + " within " + Durations.text(limit),
                        null,
                        e);
            }
            throw e;
        }
    }

    /** Releases an object that nobody waits for, without waiting. The end of the session releases it, too. */
    static <Q, R> void undo(GrpcSession session, MethodDescriptor<Q, R> method, Q request) {
        try {
            session.start(method, request, session.timeLimited()).whenComplete((response, failure) -> {
                if (failure != null) {
                    notUndone(session, failure);
                }
            });
        } catch (SidewarpException e) {
            notUndone(session, e);
        }
    }

    private static void notUndone(GrpcSession session, Throwable failure) {
        LOG.log(
                session.isEnded() ? Level.DEBUG : Level.WARNING,
                "session \"" + session.name() + "\" could not release an unused object: " + failure.getMessage());
    }
}
