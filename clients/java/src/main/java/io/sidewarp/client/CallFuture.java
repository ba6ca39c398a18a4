// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Outcome of a unary call: the response, or a {@link SidewarpException}. Cancelling the future cancels the call. */
final class CallFuture<R> extends CompletableFuture<R> {

    private final ClientCall<?, R> call;

    private CallFuture(ClientCall<?, R> call) {
        this.call = call;
    }

    static <Q, R> CallFuture<R> start(
            Transport transport, String target, MethodDescriptor<Q, R> method, Q request, CallOptions options) {
        return start(transport.channel(), target, method, request, options);
    }

    static <Q, R> CallFuture<R> start(
            Channel channel, String target, MethodDescriptor<Q, R> method, Q request, CallOptions options) {
        ClientCall<Q, R> call = channel.newCall(method, options);
        CallFuture<R> future = new CallFuture<>(call);
        call.start(new ResponseListener<>(future, target), new Metadata());
        call.request(2);
        call.sendMessage(request);
        call.halfClose();
        return future;
    }

    /** Ends the call with a cause of this side. Does nothing if the call is complete. */
    void fail(SidewarpException cause) {
        if (completeExceptionally(cause)) {
            call.cancel(cause.getMessage(), cause);
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            call.cancel("cancelled by the caller", null);
        }
        return cancelled;
    }

    /** Returns a future of the converted response. If the future ends before the call, the call is cancelled. */
    <T> CompletableFuture<T> converted(Function<? super R, ? extends T> conversion) {
        CompletableFuture<T> converted = this.<T, T>created(conversion::apply, _ -> {});
        converted.whenComplete((value, failure) -> {
            // The future was cancelled, timed out, or completed by the caller: nobody waits for the call any more.
            if (!isDone()) {
                cancel(true);
            }
        });
        return converted;
    }

    /**
     * Returns a future of the converted response to a call that creates an object. If the future ends before the call,
     * the call continues. The sidecar may already have created the object, and cancelling the call would lose the
     * response that names it.
     *
     * @param undo takes an object that was created after the future had ended; runs on the event loop
     */
    <T, V extends T> CompletableFuture<T> created(Function<? super R, V> conversion, Consumer<? super V> undo) {
        CompletableFuture<T> created = new CompletableFuture<>();
        whenComplete((response, failure) -> {
            if (failure != null) {
                created.completeExceptionally(unwrap(failure));
                return;
            }
            try {
                V value = conversion.apply(response);
                if (!created.complete(value)) {
                    undo.accept(value);
                }
            } catch (RuntimeException e) {
                created.completeExceptionally(e);
            }
        });
        return created;
    }

    /**
     * Waits for a future of this client.
     *
     * @throws SidewarpException the failure of the future; CANCELLED if this thread is interrupted
     */
    static <T> T await(CompletableFuture<T> future) {
        if (!future.isDone()) {
            Transport.checkMayBlock();
        }
        try {
            return future.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (future.cancel(true)) {
                throw Errors.interrupted(e);
            }
            // The future completed before it could be cancelled: its result must not be lost.
            return await(future);
        } catch (ExecutionException e) {
            throw thrown(unwrap(e));
        }
    }

    /**
     * Waits for a call that releases an object, however long it takes. An interrupt does not cancel the call, because
     * the object would stay taken. The thread stays interrupted.
     *
     * @param future future of a call with a time limit
     * @throws SidewarpException the failure of the future
     */
    static void release(CompletableFuture<?> future) {
        if (!future.isDone()) {
            Transport.checkMayBlock();
        }
        try {
            future.join();
        } catch (CancellationException | CompletionException e) {
            throw thrown(unwrap(e));
        }
    }

    /** Returns the failure with the stack of the waiting thread, which is the useful one. */
    private static RuntimeException thrown(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof SidewarpException exception && exception.getClass() == SidewarpException.class) {
            return exception.again();
        }
        if (failure instanceof RuntimeException exception) {
            return exception;
        }
        return new SidewarpException(Status.Code.UNKNOWN, String.valueOf(failure.getMessage()), null, failure);
    }

    private static Throwable unwrap(Throwable failure) {
        Throwable cause = failure.getCause();
        boolean wrapper = failure instanceof ExecutionException || failure instanceof CompletionException;
        return wrapper && cause != null ? cause : failure;
    }

    /** Completes a future with the response of a unary call, or with its failure. */
    static class ResponseListener<R> extends ClientCall.Listener<R> {

        private final CompletableFuture<R> future;
        private final String target;
        private @Nullable R response;

        ResponseListener(CompletableFuture<R> future, String target) {
            this.future = future;
            this.target = target;
        }

        @Override
        public void onMessage(R message) {
            response = message;
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            R message = response;
            if (!status.isOk()) {
                future.completeExceptionally(Errors.of(status, trailers, target));
            } else if (message == null) {
                future.completeExceptionally(
                        Errors.of(Status.INTERNAL.withDescription("the sidecar gave no response"), null, target));
            } else {
                future.complete(message);
            }
        }
    }
}
