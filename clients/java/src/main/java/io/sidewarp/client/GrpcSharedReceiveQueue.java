// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.Status;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.DestroySharedReceiveQueueRequest;
import io.sidewarp.v1.ListSharedReceiveQueuesRequest;
import io.sidewarp.v1.ModifySharedReceiveQueueRequest;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.SharedReceiveQueueServiceGrpc;
import io.sidewarp.v1.TransferServiceGrpc;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A shared receive queue of a session. */
record GrpcSharedReceiveQueue(GrpcSession session, long id, long protectionDomain, int capacity)
        implements SharedReceiveQueue {

    /**
     * Creates a queue, and waits for it.
     *
     * @param protectionDomain the sidecar's number of the protection domain
     */
    static GrpcSharedReceiveQueue create(GrpcSession session, int capacity, long protectionDomain) {
        CreateSharedReceiveQueueRequest request = CreateSharedReceiveQueueRequest.newBuilder()
                .setSession(session.id())
                .setProtectionDomain(protectionDomain)
                .setCapacity(capacity)
                .build();
        return Creation.create(
                session,
                SharedReceiveQueueServiceGrpc.getCreateSharedReceiveQueueMethod(),
                request,
                "create a shared receive queue",
                response -> new GrpcSharedReceiveQueue(
                        session,
                        response.getSharedReceiveQueue().getId(),
                        response.getSharedReceiveQueue().getProtectionDomain(),
                        response.getSharedReceiveQueue().getCapacity()),
                GrpcSharedReceiveQueue::abandon);
    }

    @Override
    public Usage usage() {
        ListSharedReceiveQueuesRequest request = ListSharedReceiveQueuesRequest.newBuilder()
                .setSession(session.id())
                .build();
        return CallFuture.await(session.start(
                        SharedReceiveQueueServiceGrpc.getListSharedReceiveQueuesMethod(),
                        request,
                        session.timeLimited()))
                .getSharedReceiveQueuesList()
                .stream()
                .filter(queue -> queue.getId() == id())
                .findAny()
                .map(queue -> new Usage(queue.getReceives(), queue.getLimit(), queue.getConnections()))
                .orElseThrow(() ->
                        new SidewarpException(Status.Code.NOT_FOUND, "shared receive queue " + id() + " is gone"));
    }

    @Override
    public void arm(int limit) {
        CallFuture.await(session.start(
                SharedReceiveQueueServiceGrpc.getModifySharedReceiveQueueMethod(),
                ModifySharedReceiveQueueRequest.newBuilder()
                        .setSession(session.id())
                        .setSharedReceiveQueue(id())
                        .setLimit(limit)
                        .build(),
                session.timeLimited()));
    }

    @Override
    public CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local) {
        ReceiveRequest request = ReceiveRequest.newBuilder()
                .setSession(session.id())
                .setSharedReceiveQueue(id())
                .setWork(WorkRequest.receive(this, local.toArray(Sge[]::new))
                        .toProto()
                        .getReceive())
                .build();
        return session.start(TransferServiceGrpc.getReceiveMethod(), request, CallOptions.DEFAULT)
                .converted(response -> Protos.completed(response.getCompletion()));
    }

    @Override
    public void close() {
        if (session.isEnded()) {
            return;
        }
        CallFuture.release(session.start(
                SharedReceiveQueueServiceGrpc.getDestroySharedReceiveQueueMethod(),
                destruction(),
                session.timeLimited()));
    }

    private void abandon() {
        Creation.undo(session, SharedReceiveQueueServiceGrpc.getDestroySharedReceiveQueueMethod(), destruction());
    }

    private DestroySharedReceiveQueueRequest destruction() {
        return DestroySharedReceiveQueueRequest.newBuilder()
                .setSession(session.id())
                .setSharedReceiveQueue(id())
                .build();
    }

    @Override
    public String toString() {
        return "SharedReceiveQueue[" + id() + ", " + capacity() + " receives]";
    }
}
