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
 * Calls that create something at the sidecar. When their caller stops waiting, they continue until the sidecar answers or
 * the session ends: the response to a cancelled call, which names the created object, would be lost. A late answer is
 * undone.
 */
final class Creation {

    private static final System.Logger LOG = System.getLogger(Creation.class.getName());

    private Creation() {}

    /**
     * Creates something and waits for it, as long as calls may take.
     *
     * @param what the sidecar is to do, for the message
     * @param undo gives back what nobody waits for; it runs on the event loop
     * @throws SidewarpException what the call failed with; CANCELLED when this thread is interrupted;
     *     DEADLINE_EXCEEDED when the time is over
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
     * Waits for what a call without a time limit of its own creates, as long as other calls may take.
     *
     * @param what the sidecar is to do, for the message
     */
    static <T> T await(GrpcClient client, CompletableFuture<T> created, String what) {
        Duration limit = client.options().callTimeout();
        try {
            return CallFuture.await(created.orTimeout(Durations.nanos(limit), TimeUnit.NANOSECONDS));
        } catch (SidewarpException e) {
            if (e.getCause() instanceof TimeoutException) {
                throw new SidewarpException(
                        Status.Code.DEADLINE_EXCEEDED,
                        "the sidecar at " + client.target() + " did not " + what + " within " + limit,
                        null,
                        e);
            }
            throw e;
        }
    }

    /** Releases what was created and nobody waits for, without waiting. The end of the session releases it, too. */
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
                "session \"" + session.name() + "\" keeps an object whose creator gave up: " + failure.getMessage());
    }
}
