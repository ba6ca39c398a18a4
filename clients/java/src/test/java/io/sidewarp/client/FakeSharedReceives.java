// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.CreateSharedReceiveQueueResponse;
import io.sidewarp.v1.DestroySharedReceiveQueueRequest;
import io.sidewarp.v1.DestroySharedReceiveQueueResponse;
import io.sidewarp.v1.ListSharedReceiveQueuesRequest;
import io.sidewarp.v1.ListSharedReceiveQueuesResponse;
import io.sidewarp.v1.ModifySharedReceiveQueueRequest;
import io.sidewarp.v1.ModifySharedReceiveQueueResponse;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.SharedReceiveQueueServiceGrpc;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Shared receive queues whose receives are never consumed. */
final class FakeSharedReceives extends SharedReceiveQueueServiceGrpc.SharedReceiveQueueServiceImplBase {

    final BlockingQueue<CreateSharedReceiveQueueRequest> creates = new LinkedBlockingQueue<>();
    final BlockingQueue<ModifySharedReceiveQueueRequest> modifies = new LinkedBlockingQueue<>();
    final Map<Long, SharedReceiveQueue> queues = new ConcurrentHashMap<>();

    private final AtomicLong ids = new AtomicLong(500);

    @Override
    public void createSharedReceiveQueue(
            CreateSharedReceiveQueueRequest request, StreamObserver<CreateSharedReceiveQueueResponse> response) {
        creates.add(request);
        SharedReceiveQueue queue = SharedReceiveQueue.newBuilder()
                .setId(ids.incrementAndGet())
                .setProtectionDomain(request.getProtectionDomain())
                .setCapacity(request.getCapacity())
                .build();
        queues.put(queue.getId(), queue);
        response.onNext(CreateSharedReceiveQueueResponse.newBuilder()
                .setSharedReceiveQueue(queue)
                .build());
        response.onCompleted();
    }

    @Override
    public void modifySharedReceiveQueue(
            ModifySharedReceiveQueueRequest request, StreamObserver<ModifySharedReceiveQueueResponse> response) {
        modifies.add(request);
        response.onNext(ModifySharedReceiveQueueResponse.getDefaultInstance());
        response.onCompleted();
    }

    @Override
    public void destroySharedReceiveQueue(
            DestroySharedReceiveQueueRequest request, StreamObserver<DestroySharedReceiveQueueResponse> response) {
        if (queues.remove(request.getSharedReceiveQueue()) == null) {
            response.onError(Status.NOT_FOUND.withDescription("no such queue").asRuntimeException());
            return;
        }
        response.onNext(DestroySharedReceiveQueueResponse.getDefaultInstance());
        response.onCompleted();
    }

    @Override
    public void listSharedReceiveQueues(
            ListSharedReceiveQueuesRequest request, StreamObserver<ListSharedReceiveQueuesResponse> response) {
        response.onNext(ListSharedReceiveQueuesResponse.newBuilder()
                .addAllSharedReceiveQueues(queues.values())
                .build());
        response.onCompleted();
    }
}
