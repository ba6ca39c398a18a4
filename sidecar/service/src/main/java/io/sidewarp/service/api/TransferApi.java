// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.transfer.QueueCallHandler;
import io.sidewarp.service.transfer.SessionTransfers;
import io.sidewarp.v1.FlushRequest;
import io.sidewarp.v1.FlushResponse;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.PerformResponse;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
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
import java.util.function.Function;

/** Implements TransferService. */
final class TransferApi extends TransferServiceGrpc.TransferServiceImplBase {

    private final Calls calls;

    TransferApi(Calls calls) {
        this.calls = calls;
    }

    @Override
    public void write(WriteRequest request, StreamObserver<WriteResponse> observer) {
        transfer(
                request.getSession(),
                observer,
                transfers -> transfers.write(request.getConnection(), given(request.hasWork(), request.getWork())),
                completion ->
                        WriteResponse.newBuilder().setCompletion(completion).build());
    }

    @Override
    public void read(ReadRequest request, StreamObserver<ReadResponse> observer) {
        transfer(
                request.getSession(),
                observer,
                transfers -> transfers.read(request.getConnection(), given(request.hasWork(), request.getWork())),
                completion ->
                        ReadResponse.newBuilder().setCompletion(completion).build());
    }

    @Override
    public void send(SendRequest request, StreamObserver<SendResponse> observer) {
        transfer(
                request.getSession(),
                observer,
                transfers -> transfers.send(request.getConnection(), given(request.hasWork(), request.getWork())),
                completion ->
                        SendResponse.newBuilder().setCompletion(completion).build());
    }

    @Override
    public void flush(FlushRequest request, StreamObserver<FlushResponse> observer) {
        transfer(
                request.getSession(),
                observer,
                transfers -> transfers.flush(request.getConnection(), request.getAfterPosts()),
                completion ->
                        FlushResponse.newBuilder().setCompletion(completion).build());
    }

    @Override
    public void receive(ReceiveRequest request, StreamObserver<ReceiveResponse> observer) {
        transfer(
                request.getSession(),
                observer,
                transfers -> transfers.receive(
                        request.getConnection(),
                        request.getSharedReceiveQueue(),
                        given(request.hasWork(), request.getWork())),
                completion ->
                        ReceiveResponse.newBuilder().setCompletion(completion).build());
    }

    @Override
    public void perform(PerformRequest request, StreamObserver<PerformResponse> observer) {
        transfer(
                request.getSession(),
                observer,
                transfers -> transfers.perform(request.getWork()),
                completion ->
                        PerformResponse.newBuilder().setCompletion(completion).build());
    }

    @Override
    public StreamObserver<QueueRequest> queue(StreamObserver<QueueResponse> observer) {
        Peer peer = Peer.CONTEXT.get();
        return new QueueCallHandler(
                (ServerCallStreamObserver<QueueResponse>) observer,
                token -> calls.registry().require(token, peer).transfers());
    }

    /** Returns the work. Without this check an empty message would be sent, and the call would succeed. */
    private static <W> W given(boolean hasWork, W work) {
        if (!hasWork) {
            throw ApiError.invalid("work is not set; set it, without elements for an operation of no bytes");
        }
        return work;
    }

    private <R> void transfer(
            String token,
            StreamObserver<R> observer,
            Function<SessionTransfers, CompletableFuture<WorkCompletion>> post,
            Function<WorkCompletion, R> response) {
        CancelHook hook = new CancelHook((ServerCallStreamObserver<R>) observer);
        calls.unary(token, observer, session -> {
            CompletableFuture<WorkCompletion> completion = post.apply(session.transfers());
            // Posted work continues, but holds no reference to a caller that has left.
            hook.arm(session, () -> completion.cancel(false));
            return completion.thenApply(response);
        });
    }
}
