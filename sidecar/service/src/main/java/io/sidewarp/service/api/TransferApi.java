// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.service.transfer.QueueMethod;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.PerformResponse;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.ReadResponse;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveResponse;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.SendResponse;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WriteRequest;
import io.sidewarp.v1.WriteResponse;
import java.util.concurrent.CompletableFuture;

/** TransferService. Queue is {@link QueueMethod}, which takes messages apart by itself. */
final class TransferApi extends TransferServiceGrpc.TransferServiceImplBase {

    private final Calls calls;

    TransferApi(Calls calls) {
        this.calls = calls;
    }

    /** The service with its own Queue. */
    ServerServiceDefinition definition() {
        return QueueMethod.replaceIn(bindService(), calls.registry());
    }

    @Override
    public void write(WriteRequest request, StreamObserver<WriteResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> session.transfers()
                        .write(request.getConnection(), request.getWork())
                        .thenApply(completion -> WriteResponse.newBuilder()
                                .setCompletion(completion)
                                .build()));
    }

    @Override
    public void read(ReadRequest request, StreamObserver<ReadResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> session.transfers()
                        .read(request.getConnection(), request.getWork())
                        .thenApply(completion -> ReadResponse.newBuilder()
                                .setCompletion(completion)
                                .build()));
    }

    @Override
    public void send(SendRequest request, StreamObserver<SendResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> session.transfers()
                        .send(request.getConnection(), request.getWork())
                        .thenApply(completion -> SendResponse.newBuilder()
                                .setCompletion(completion)
                                .build()));
    }

    @Override
    public void receive(ReceiveRequest request, StreamObserver<ReceiveResponse> observer) {
        CancelHook hook = new CancelHook((ServerCallStreamObserver<ReceiveResponse>) observer);
        calls.unary(request.getSession(), observer, session -> {
            CompletableFuture<WorkCompletion> message = session.transfers().receive(request);
            // A message that arrives in an initial receive is for the next caller, if this one has left.
            hook.arm(session, () -> message.cancel(false));
            return message.thenApply(completion ->
                    ReceiveResponse.newBuilder().setCompletion(completion).build());
        });
    }

    @Override
    public void perform(PerformRequest request, StreamObserver<PerformResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> session.transfers()
                        .perform(request.getWork())
                        .thenApply(completion -> PerformResponse.newBuilder()
                                .setCompletion(completion)
                                .build()));
    }
}
