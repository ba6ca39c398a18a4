// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.v1.CompletionRing;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateCompletionRingResponse;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.CreateWorkRingResponse;
import io.sidewarp.v1.DestroyRingRequest;
import io.sidewarp.v1.DestroyRingResponse;
import io.sidewarp.v1.RingFile;
import io.sidewarp.v1.RingServiceGrpc;
import io.sidewarp.v1.WorkRing;
import io.sidewarp.v1.WorkRingKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The rings of a sidecar. Each completion ring has a thread that serves it and its work rings. */
final class FakeRings extends RingServiceGrpc.RingServiceImplBase {

    private final Path api;
    private final Path volume;
    private final AtomicLong ids = new AtomicLong(100);
    private final Map<Long, FakeRing> rings = new ConcurrentHashMap<>();

    /** Completion rings in the order in which they were created. */
    final BlockingQueue<FakeRing> created = new LinkedBlockingQueue<>();

    final BlockingQueue<Long> destroyed = new LinkedBlockingQueue<>();

    /** Entries of a completion ring, where the request does not say. */
    volatile int entries = 8;

    volatile int workBlocks = 16;

    /** When set, no ring is created. */
    volatile @Nullable Status refusal = Status.FAILED_PRECONDITION.withDescription("this sidecar has no rings");

    /** When set, the token is refused with this text. */
    volatile @Nullable String refusedHello;

    FakeRings(Path api, Path volume) {
        this.api = api;
        this.volume = volume;
    }

    @Override
    public void createCompletionRing(
            CreateCompletionRingRequest request, StreamObserver<CreateCompletionRingResponse> response) {
        Status refused = refusal;
        if (refused != null) {
            response.onError(refused.asRuntimeException());
            return;
        }
        long id = ids.incrementAndGet();
        int count = request.getEntries() == 0 ? entries : request.getEntries();
        byte[] token = new byte[RingRecord.TOKEN_LENGTH];
        token[0] = (byte) id;
        try {
            FakeRing ring = new FakeRing(id, volume, api.resolveSibling("ring-" + id), token, refusedHello);
            RingFile file = ring.create(RingLayout.KIND_COMPLETION, id, count);
            rings.put(id, ring);
            created.add(ring);
            response.onNext(CreateCompletionRingResponse.newBuilder()
                    .setCompletionRing(CompletionRing.newBuilder()
                            .setId(id)
                            .setFile(file)
                            .setEntries(count)
                            .setSocket("ring-" + id)
                            .setToken(ByteString.copyFrom(token)))
                    .build());
            response.onCompleted();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void createWorkRing(CreateWorkRingRequest request, StreamObserver<CreateWorkRingResponse> response) {
        FakeRing ring = Objects.requireNonNull(rings.get(request.getCompletionRing()));
        long id = ids.incrementAndGet();
        boolean send = request.getKind() == WorkRingKind.WORK_RING_KIND_SEND;
        try {
            RingFile file = ring.create(send ? RingLayout.KIND_SEND : RingLayout.KIND_RECEIVE, id, workBlocks);
            response.onNext(CreateWorkRingResponse.newBuilder()
                    .setWorkRing(WorkRing.newBuilder()
                            .setId(id)
                            .setKind(request.getKind())
                            .setFile(file)
                            .setBlocks(workBlocks)
                            .setCompletionRing(request.getCompletionRing()))
                    .build());
            response.onCompleted();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void destroyRing(DestroyRingRequest request, StreamObserver<DestroyRingResponse> response) {
        destroyed.add(request.getRing());
        response.onNext(DestroyRingResponse.getDefaultInstance());
        response.onCompleted();
    }

    void close() {
        rings.values().forEach(FakeRing::close);
    }
}
