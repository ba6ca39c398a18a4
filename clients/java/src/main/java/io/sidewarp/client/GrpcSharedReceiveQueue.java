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
final class GrpcSharedReceiveQueue implements SharedReceiveQueue {

    private final GrpcSession session;
    private final io.sidewarp.v1.SharedReceiveQueue created;

    private GrpcSharedReceiveQueue(GrpcSession session, io.sidewarp.v1.SharedReceiveQueue created) {
        this.session = session;
        this.created = created;
    }

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
                response -> new GrpcSharedReceiveQueue(session, response.getSharedReceiveQueue()),
                GrpcSharedReceiveQueue::abandon);
    }

    @Override
    public long id() {
        return created.getId();
    }

    @Override
    public long protectionDomain() {
        return created.getProtectionDomain();
    }

    @Override
    public int capacity() {
        return created.getCapacity();
    }

    @Override
    public io.sidewarp.v1.SharedReceiveQueue info() {
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
    public WorkCompletion receive(Sge local) {
        return CallFuture.await(receiveAsync(List.of(local)));
    }

    @Override
    public CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local) {
        ReceiveRequest request = ReceiveRequest.newBuilder()
                .setSession(session.id())
                .setSharedReceiveQueue(id())
                .setWork(Protos.receive(0, local))
                .build();
        return session.start(TransferServiceGrpc.getReceiveMethod(), request, CallOptions.DEFAULT)
                .converted(response ->
                        Protos.completion(response.getCompletion(), 0).orThrow());
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
