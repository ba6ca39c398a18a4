// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.v1.StoreHeader;
import io.sidewarp.v1.StoreRequest;
import io.sidewarp.v1.StoreResponse;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One Store call. The next piece is requested when the previous one is in the region: at most one piece is in memory.
 * gRPC's callbacks arrive on the transport's thread and continue on the session's thread.
 */
final class StoreCallHandler implements StreamObserver<StoreRequest> {

    private final Calls calls;
    private final ServerCallStreamObserver<StoreResponse> observer;

    /** Header of the first message. Set by the transport's thread. */
    private @Nullable StoreHeader header;

    private @Nullable ManagedAccess access;
    private long offset;
    private long stored;
    /** True if the call has ended. Pieces and the half-close that were already sent still arrive. */
    private final AtomicBoolean done = new AtomicBoolean();

    StoreCallHandler(Calls calls, ServerCallStreamObserver<StoreResponse> observer) {
        this.calls = calls;
        this.observer = observer;
        observer.disableAutoRequest();
        observer.setOnCancelHandler(() -> {});
        observer.request(1);
    }

    @Override
    public void onNext(StoreRequest request) {
        StoreHeader known = header;
        if (known == null && !request.hasHeader()) {
            fail(ApiError.invalid("header is missing; the first message of Store must have it"));
        } else if (known != null && request.hasHeader()) {
            fail(ApiError.invalid("header occurs again; only the first message of Store may have it"));
        } else {
            StoreHeader current = known == null ? request.getHeader() : known;
            header = current;
            calls.inSession(current.getSession(), this::fail, session -> store(session, current, request));
        }
    }

    private void store(SidecarSession session, StoreHeader current, StoreRequest request) {
        if (done.get()) {
            return;
        }
        try {
            ManagedAccess target = access;
            if (target == null) {
                target = ManagedAccess.of(session, current.getRegion(), current.getOffset());
                access = target;
                offset = current.getOffset();
            }
            target.store(offset, MemorySegment.ofBuffer(request.getData().asReadOnlyByteBuffer()));
            offset += request.getData().size();
            stored += request.getData().size();
            observer.request(1);
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    private void fail(RuntimeException failure) {
        if (done.compareAndSet(false, true)) {
            calls.fail(observer, failure);
        }
    }

    @Override
    public void onError(Throwable failure) {
        // The client has left and needs no answer.
    }

    @Override
    public void onCompleted() {
        StoreHeader current = header;
        if (current == null) {
            fail(ApiError.invalid("header is missing; the first message of Store must have it"));
            return;
        }
        calls.inSession(current.getSession(), this::fail, session -> {
            if (done.compareAndSet(false, true)) {
                observer.onNext(StoreResponse.newBuilder().setLength(stored).build());
                observer.onCompleted();
            }
        });
    }
}
