// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.service.memory.RegionPlan;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.v1.AllocateProtectionDomainRequest;
import io.sidewarp.v1.AllocateProtectionDomainResponse;
import io.sidewarp.v1.DeallocateProtectionDomainRequest;
import io.sidewarp.v1.DeallocateProtectionDomainResponse;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.DeregisterRegionResponse;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.ListRegionsResponse;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.RegisterRegionResponse;
import io.sidewarp.v1.StoreRequest;
import io.sidewarp.v1.StoreResponse;
import java.util.concurrent.CompletableFuture;

/** Implements MemoryService. */
final class MemoryApi extends MemoryServiceGrpc.MemoryServiceImplBase {

    private final Calls calls;

    MemoryApi(Calls calls) {
        this.calls = calls;
    }

    @Override
    public void allocateProtectionDomain(
            AllocateProtectionDomainRequest request, StreamObserver<AllocateProtectionDomainResponse> observer) {
        calls.create(
                request.getSession(),
                observer,
                session -> CompletableFuture.completedFuture(
                        session.memory().allocateDomain().id()),
                (session, domain) -> session.memory().deallocateDomain(domain),
                domain -> AllocateProtectionDomainResponse.newBuilder()
                        .setProtectionDomain(domain)
                        .build());
    }

    @Override
    public void deallocateProtectionDomain(
            DeallocateProtectionDomainRequest request, StreamObserver<DeallocateProtectionDomainResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> session.memory()
                        .deallocateDomain(request.getProtectionDomain())
                        .thenApply(ignored -> DeallocateProtectionDomainResponse.getDefaultInstance()));
    }

    @Override
    public void registerRegion(RegisterRegionRequest request, StreamObserver<RegisterRegionResponse> observer) {
        ServerCallStreamObserver<RegisterRegionResponse> call =
                (ServerCallStreamObserver<RegisterRegionResponse>) observer;
        // Page preparation cannot be stopped once it has begun. If the client leaves meanwhile, the finished region is
        // released.
        calls.create(
                request.getSession(),
                observer,
                session -> session.memory()
                        .register(plan(request, session), () -> !call.isCancelled())
                        .thenApply(region -> region.toProto(session.context().name())),
                (session, region) -> session.memory().abandon(region.getId()),
                region -> RegisterRegionResponse.newBuilder().setRegion(region).build());
    }

    private static RegionPlan plan(RegisterRegionRequest request, SidecarSession session) {
        Pd domain = session.memory().domain(request.getProtectionDomain());
        return RegionPlan.of(
                request, domain, session.connections().queuePair(request.getConnection(), domain), session.context());
    }

    @Override
    public void deregisterRegion(DeregisterRegionRequest request, StreamObserver<DeregisterRegionResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> (request.getKeepContent()
                                ? session.memory().abandon(request.getRegion())
                                : session.memory().deregister(request.getRegion()))
                        .thenApply(ignored -> DeregisterRegionResponse.getDefaultInstance()));
    }

    @Override
    public void listRegions(ListRegionsRequest request, StreamObserver<ListRegionsResponse> observer) {
        calls.list(
                request.getSession(),
                observer,
                session -> session.memory().list(),
                regions ->
                        ListRegionsResponse.newBuilder().addAllRegions(regions).build());
    }

    @Override
    public StreamObserver<StoreRequest> store(StreamObserver<StoreResponse> observer) {
        return new StoreCallHandler(calls, (ServerCallStreamObserver<StoreResponse>) observer);
    }

    @Override
    public void load(LoadRequest request, StreamObserver<LoadResponse> observer) {
        ServerCallStreamObserver<LoadResponse> call = (ServerCallStreamObserver<LoadResponse>) observer;
        LoadCallHandler load = new LoadCallHandler(calls, call);
        calls.inSession(request.getSession(), observer, session -> load.start(session, request));
    }
}
