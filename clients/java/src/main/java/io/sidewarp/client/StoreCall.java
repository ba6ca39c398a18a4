// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.StoreHeader;
import io.sidewarp.v1.StoreRequest;
import io.sidewarp.v1.StoreResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One Store call, fed by one thread. The thread waits while the call's buffers are full, so no more data than they hold
 * is in memory. Closing the call before {@link #finish} abandons it.
 */
final class StoreCall implements AutoCloseable {

    private final GrpcSession session;
    private final ClientCall<StoreRequest, StoreResponse> call;
    private final CompletableFuture<StoreResponse> outcome = new CompletableFuture<>();
    private final Consumer<SidewarpException> failure = this::fail;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition writable = lock.newCondition();
    private @Nullable StoreHeader header;

    StoreCall(GrpcSession session, StoreHeader header) {
        Transport.checkMayBlock();
        session.checkOpen();
        this.session = session;
        this.header = header;
        call = session.client().transport().channel().newCall(MemoryServiceGrpc.getStoreMethod(), CallOptions.DEFAULT);
        call.start(
                new CallFuture.ResponseListener<>(outcome, session.client().target()) {
                    @Override
                    public void onReady() {
                        signal();
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        super.onClose(status, trailers);
                        signal();
                    }
                },
                new Metadata());
        call.request(2);
        session.failAtEnd(failure);
    }

    /**
     * Sends a piece. The first piece comes with the header. Does nothing if the call failed; {@link #finish} reports
     * the reason.
     */
    void send(ByteString data) {
        lock.lock();
        try {
            while (!call.isReady() && !outcome.isDone()) {
                writable.await();
            }
            if (!outcome.isDone()) {
                call.sendMessage(message().setData(data).build());
            }
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the data and waits for the response.
     *
     * @return number of bytes stored
     */
    long finish() {
        lock.lock();
        try {
            if (header != null && !outcome.isDone()) {
                call.sendMessage(message().build());
            }
            if (!outcome.isDone()) {
                call.halfClose();
            }
        } finally {
            lock.unlock();
        }
        return CallFuture.await(outcome).getLength();
    }

    @Override
    public void close() {
        session.forget(failure);
        // An interrupt of the waiting thread cancels only the outcome, so the call must be cancelled here.
        if (!outcome.isDone() || outcome.isCancelled()) {
            call.cancel("abandoned by the caller", null);
        }
    }

    private StoreRequest.Builder message() {
        StoreRequest.Builder message = StoreRequest.newBuilder();
        StoreHeader first = header;
        if (first != null) {
            message.setHeader(first);
            header = null;
        }
        return message;
    }

    private void fail(SidewarpException cause) {
        lock.lock();
        try {
            // Takes the lock, so that no message is sent after the call was cancelled: gRPC does not allow that.
            outcome.completeExceptionally(cause);
            call.cancel(cause.getMessage(), cause);
            writable.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void signal() {
        lock.lock();
        try {
            writable.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
