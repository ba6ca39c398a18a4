// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.AllocateProtectionDomainRequest;
import io.sidewarp.v1.AllocateProtectionDomainResponse;
import io.sidewarp.v1.CreateMode;
import io.sidewarp.v1.DeallocateProtectionDomainRequest;
import io.sidewarp.v1.DeallocateProtectionDomainResponse;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.DeregisterRegionResponse;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.ListRegionsResponse;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.RegisterRegionResponse;
import io.sidewarp.v1.StoreHeader;
import io.sidewarp.v1.StoreRequest;
import io.sidewarp.v1.StoreResponse;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Regions over real files, and regions over arrays. */
final class FakeMemory extends MemoryServiceGrpc.MemoryServiceImplBase {

    private static final int PIECE = 256 << 10;

    final Map<Long, byte[]> managed = new ConcurrentHashMap<>();
    final Map<Long, Region> regions = new ConcurrentHashMap<>();
    final List<Integer> storedPieces = new CopyOnWriteArrayList<>();
    final AtomicInteger loadedPieces = new AtomicInteger();

    /** Register fails with these, one after the other, and succeeds then. */
    final Queue<StatusRuntimeException> registerFailures = new ConcurrentLinkedQueue<>();

    /** When set, Register runs it before it does anything. */
    volatile @Nullable Runnable beforeRegister;

    /** Deregister fails with these, one after the other, and succeeds then. */
    final Queue<StatusRuntimeException> deregisterFailures = new ConcurrentLinkedQueue<>();

    /** When set, Store runs it at the end of the data, and does not answer. */
    volatile @Nullable Runnable insteadOfStored;

    /** When set, RegisterRegion answers once it is complete. */
    volatile @Nullable CompletableFuture<Void> registerHold;

    /** Clients that left a Store at the end of its data. */
    final Semaphore abandoned = new Semaphore(0);

    volatile RegisterRegionRequest lastRegistration = RegisterRegionRequest.getDefaultInstance();

    private final Path volume;
    private final AtomicLong ids = new AtomicLong();

    FakeMemory(Path volume) {
        this.volume = volume;
    }

    @Override
    public void allocateProtectionDomain(
            AllocateProtectionDomainRequest request, StreamObserver<AllocateProtectionDomainResponse> response) {
        response.onNext(AllocateProtectionDomainResponse.newBuilder()
                .setProtectionDomain(ids.incrementAndGet())
                .build());
        response.onCompleted();
    }

    @Override
    public void deallocateProtectionDomain(
            DeallocateProtectionDomainRequest request, StreamObserver<DeallocateProtectionDomainResponse> response) {
        response.onError(Status.FAILED_PRECONDITION
                .withDescription("protection domain " + request.getProtectionDomain() + " is in use")
                .asRuntimeException());
    }

    @Override
    public void registerRegion(RegisterRegionRequest request, StreamObserver<RegisterRegionResponse> response) {
        lastRegistration = request;
        CompletableFuture<Void> hold = registerHold;
        if (hold == null) {
            register(request, response);
        } else {
            hold.thenRun(() -> register(request, response));
        }
    }

    private void register(RegisterRegionRequest request, StreamObserver<RegisterRegionResponse> response) {
        Runnable before = beforeRegister;
        if (before != null) {
            before.run();
        }
        StatusRuntimeException failure = registerFailures.poll();
        if (failure != null) {
            response.onError(failure);
            return;
        }
        Region.Builder region = Region.newBuilder()
                .setId(ids.incrementAndGet())
                .setStag(0xCAFE0000)
                .setBaseTaggedOffset(request.getBaseTaggedOffset());
        try {
            if (request.hasShared()) {
                Path file = volume.resolve(request.getShared().getPath());
                region.setFileExisted(Files.exists(file));
                if (request.getShared().getCreate()
                        || request.getShared().getCreateMode() != CreateMode.CREATE_MODE_UNSPECIFIED) {
                    try (RandomAccessFile created = new RandomAccessFile(file.toFile(), "rw")) {
                        created.setLength(request.getShared().getLength());
                    }
                }
                long length = request.getShared().getLength();
                region.setPath(request.getShared().getPath())
                        .setLength(
                                length > 0
                                        ? length
                                        : Files.size(file) - request.getShared().getOffset());
            } else {
                region.setLength(request.getManaged().getLength());
                managed.put(region.getId(), new byte[(int) region.getLength()]);
            }
        } catch (IOException e) {
            response.onError(Status.NOT_FOUND.withDescription(e.toString()).asRuntimeException());
            return;
        }
        regions.put(region.getId(), region.build());
        response.onNext(RegisterRegionResponse.newBuilder().setRegion(region).build());
        response.onCompleted();
    }

    @Override
    public void deregisterRegion(DeregisterRegionRequest request, StreamObserver<DeregisterRegionResponse> response) {
        StatusRuntimeException failure = deregisterFailures.poll();
        if (failure != null) {
            response.onError(failure);
            return;
        }
        if (regions.remove(request.getRegion()) == null) {
            response.onError(Status.NOT_FOUND.withDescription("no such region").asRuntimeException());
            return;
        }
        response.onNext(DeregisterRegionResponse.getDefaultInstance());
        response.onCompleted();
    }

    @Override
    public void listRegions(ListRegionsRequest request, StreamObserver<ListRegionsResponse> response) {
        response.onNext(
                ListRegionsResponse.newBuilder().addAllRegions(regions.values()).build());
        response.onCompleted();
    }

    @Override
    public StreamObserver<StoreRequest> store(StreamObserver<StoreResponse> response) {
        ((ServerCallStreamObserver<StoreResponse>) response).setOnCancelHandler(abandoned::release);
        return new StreamObserver<>() {
            private StoreHeader header = StoreHeader.getDefaultInstance();
            private int stored;

            @Override
            public void onNext(StoreRequest request) {
                if (request.hasHeader()) {
                    header = request.getHeader();
                }
                byte[] memory = managed.get(header.getRegion());
                int at = (int) header.getOffset() + stored;
                if (memory == null || at + request.getData().size() > memory.length) {
                    response.onError(Status.OUT_OF_RANGE
                            .withDescription("the region ends before")
                            .asRuntimeException());
                    return;
                }
                request.getData().copyTo(memory, at);
                stored += request.getData().size();
                storedPieces.add(request.getData().size());
            }

            @Override
            public void onError(Throwable failure) {
                storedPieces.add(-1);
            }

            @Override
            public void onCompleted() {
                Runnable instead = insteadOfStored;
                if (instead != null) {
                    instead.run();
                    return;
                }
                response.onNext(StoreResponse.newBuilder().setLength(stored).build());
                response.onCompleted();
            }
        };
    }

    @Override
    public void load(LoadRequest request, StreamObserver<LoadResponse> response) {
        byte[] memory = managed.get(request.getRegion());
        int end = request.getLength() == 0 ? memory.length : (int) (request.getOffset() + request.getLength());
        ServerCallStreamObserver<LoadResponse> flow = (ServerCallStreamObserver<LoadResponse>) response;
        flow.setOnReadyHandler(new Runnable() {
            private int at = (int) request.getOffset();
            private boolean complete;

            @Override
            public void run() {
                while (!complete && flow.isReady()) {
                    int octets = Math.min(PIECE, end - at);
                    flow.onNext(LoadResponse.newBuilder()
                            .setData(ByteString.copyFrom(memory, at, octets))
                            .build());
                    loadedPieces.incrementAndGet();
                    at += octets;
                    if (at == end) {
                        complete = true;
                        flow.onCompleted();
                    }
                }
            }
        });
    }
}
