// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.CreateSharedReceiveQueueResponse;
import io.sidewarp.v1.DestroySharedReceiveQueueRequest;
import io.sidewarp.v1.DestroySharedReceiveQueueResponse;
import io.sidewarp.v1.ListSharedReceiveQueuesRequest;
import io.sidewarp.v1.ListSharedReceiveQueuesResponse;
import io.sidewarp.v1.ModifySharedReceiveQueueRequest;
import io.sidewarp.v1.ModifySharedReceiveQueueResponse;
import io.sidewarp.v1.SharedReceiveQueueServiceGrpc;
import java.util.concurrent.CompletableFuture;

/** Implements SharedReceiveQueueService. */
final class SharedReceiveQueueApi extends SharedReceiveQueueServiceGrpc.SharedReceiveQueueServiceImplBase {

    private final Calls calls;

    SharedReceiveQueueApi(Calls calls) {
        this.calls = calls;
    }

    @Override
    public void createSharedReceiveQueue(
            CreateSharedReceiveQueueRequest request, StreamObserver<CreateSharedReceiveQueueResponse> observer) {
        calls.create(
                request.getSession(),
                observer,
                session -> CompletableFuture.completedFuture(
                        session.sharedReceives().create(request)),
                (session, queue) -> session.sharedReceives().destroy(queue.getId()),
                queue -> CreateSharedReceiveQueueResponse.newBuilder()
                        .setSharedReceiveQueue(queue)
                        .build());
    }

    @Override
    public void modifySharedReceiveQueue(
            ModifySharedReceiveQueueRequest request, StreamObserver<ModifySharedReceiveQueueResponse> observer) {
        calls.unary(request.getSession(), observer, session -> {
            session.sharedReceives().modify(request.getSharedReceiveQueue(), request.getLimit());
            return CompletableFuture.completedFuture(ModifySharedReceiveQueueResponse.getDefaultInstance());
        });
    }

    @Override
    public void destroySharedReceiveQueue(
            DestroySharedReceiveQueueRequest request, StreamObserver<DestroySharedReceiveQueueResponse> observer) {
        calls.unary(request.getSession(), observer, session -> {
            session.sharedReceives().destroy(request.getSharedReceiveQueue());
            return CompletableFuture.completedFuture(DestroySharedReceiveQueueResponse.getDefaultInstance());
        });
    }

    @Override
    public void listSharedReceiveQueues(
            ListSharedReceiveQueuesRequest request, StreamObserver<ListSharedReceiveQueuesResponse> observer) {
        calls.list(
                request.getSession(),
                observer,
                session -> session.sharedReceives().list(),
                queues -> ListSharedReceiveQueuesResponse.newBuilder()
                        .addAllSharedReceiveQueues(queues)
                        .build());
    }
}
