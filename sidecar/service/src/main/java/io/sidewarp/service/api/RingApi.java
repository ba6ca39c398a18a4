// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateCompletionRingResponse;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.CreateWorkRingResponse;
import io.sidewarp.v1.DestroyRingRequest;
import io.sidewarp.v1.DestroyRingResponse;
import io.sidewarp.v1.RingServiceGrpc;

/** Implements RingService. */
final class RingApi extends RingServiceGrpc.RingServiceImplBase {

    private final Calls calls;

    RingApi(Calls calls) {
        this.calls = calls;
    }

    @Override
    public void createCompletionRing(
            CreateCompletionRingRequest request, StreamObserver<CreateCompletionRingResponse> observer) {
        calls.create(
                request.getSession(),
                observer,
                session -> session.rings().createCompletionRing(request),
                (session, ring) -> session.rings().destroy(ring.getId()),
                ring -> CreateCompletionRingResponse.newBuilder()
                        .setCompletionRing(ring)
                        .build());
    }

    @Override
    public void createWorkRing(CreateWorkRingRequest request, StreamObserver<CreateWorkRingResponse> observer) {
        calls.create(
                request.getSession(),
                observer,
                session -> session.rings().createWorkRing(request),
                (session, ring) -> session.rings().destroy(ring.getId()),
                ring -> CreateWorkRingResponse.newBuilder().setWorkRing(ring).build());
    }

    @Override
    public void destroyRing(DestroyRingRequest request, StreamObserver<DestroyRingResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> session.rings()
                        .destroy(request.getRing())
                        .thenApply(ignored -> DestroyRingResponse.getDefaultInstance()));
    }
}
