// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.common.LogText;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.session.SessionRegistry;
import io.sidewarp.service.session.SidecarSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/** Runs calls on the thread of their session, and returns results or failures to the caller. */
record Calls(SessionRegistry registry, PeerLogs logs) {

    /** Answers with the result of the body, which runs on the thread of the session that the token names. */
    <R> void unary(String token, StreamObserver<R> observer, Function<SidecarSession, CompletionStage<R>> body) {
        inSession(token, observer, session -> answer(observer, body.apply(session)));
    }

    /**
     * Answers like {@link #unary}, for a call that creates an object. The creation is undone if the client leaves
     * before the answer has been sent.
     *
     * @param undo releases the created object; runs on the session's thread
     */
    <T, R> void create(
            String token,
            StreamObserver<R> observer,
            Function<SidecarSession, CompletableFuture<T>> body,
            BiConsumer<SidecarSession, T> undo,
            Function<T, R> response) {
        CancelHook hook = new CancelHook((ServerCallStreamObserver<R>) observer);
        inSession(token, observer, session -> {
            CompletableFuture<T> created = body.apply(session);
            hook.arm(session, () -> created.thenAccept(object -> undo.accept(session, object)));
            answer(observer, created.thenApply(response));
        });
    }

    /**
     * Answers with the objects of the session. Without a token, answers with the objects of all sessions that the
     * caller may see.
     */
    <T, R> void list(
            String token,
            StreamObserver<R> observer,
            Function<SidecarSession, List<T>> list,
            Function<List<T>, R> response) {
        if (token.isEmpty()) {
            answer(
                    observer,
                    registry.collect(Peer.CONTEXT.get(), list)
                            .thenApply(lists -> response.apply(
                                    lists.stream().flatMap(List::stream).toList())));
        } else {
            unary(token, observer, session -> CompletableFuture.completedFuture(response.apply(list.apply(session))));
        }
    }

    /** Runs the body on the thread of the session. A failure of the body ends the call. */
    void inSession(String token, StreamObserver<?> observer, Consumer<SidecarSession> body) {
        inSession(token, failure -> fail(observer, failure), body);
    }

    /**
     * Runs the body on the thread of the session. A failure goes to {@code onFailure}, on that thread or on the
     * caller's.
     */
    void inSession(String token, Consumer<RuntimeException> onFailure, Consumer<SidecarSession> body) {
        SidecarSession session;
        try {
            session = registry.require(token, Peer.CONTEXT.get());
        } catch (StatusRuntimeException e) {
            onFailure.accept(e);
            return;
        }
        session.context().run(() -> {
            try {
                session.checkOpen();
                body.accept(session);
            } catch (RuntimeException e) {
                onFailure.accept(e);
            }
        });
    }

    /** Ends the call with the result of a stage. */
    <R> void answer(StreamObserver<R> observer, CompletionStage<R> stage) {
        stage.whenComplete((result, failure) -> {
            if (failure == null) {
                observer.onNext(result);
                observer.onCompleted();
            } else {
                fail(observer, failure);
            }
        });
    }

    /** Ends the call with a failure. */
    void fail(StreamObserver<?> observer, Throwable failure) {
        StatusRuntimeException status = ApiError.from(failure);
        if (status.getStatus().getCode() == Status.Code.INTERNAL) {
            logs.internal().error(() -> "message=" + LogText.quoted(failure), failure);
        }
        observer.onError(status);
    }
}
