// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import org.jspecify.annotations.Nullable;

/** One Load call. Sends the next piece when the transport has taken the previous one. Runs on the session's thread. */
final class LoadCallHandler {

    private static final int MAX_DATA = 128 << 10;

    private final Calls calls;
    private final ServerCallStreamObserver<LoadResponse> observer;
    private final CancelHook cancelled;
    private final ReadyHook ready;
    private @Nullable ManagedAccess access;
    private long offset;
    private long end;
    private boolean done;

    LoadCallHandler(Calls calls, ServerCallStreamObserver<LoadResponse> observer) {
        this.calls = calls;
        this.observer = observer;
        this.cancelled = new CancelHook(observer);
        this.ready = new ReadyHook(observer);
    }

    void start(SidecarSession session, LoadRequest request) {
        ManagedAccess source = ManagedAccess.of(session, request.getRegion(), request.getOffset());
        offset = request.getOffset();
        long length = request.getLength() == 0 ? source.length() - offset : request.getLength();
        source.check(offset, length);
        end = offset + length;
        access = source;
        cancelled.arm(session, () -> done = true);
        ready.arm(session, this::send);
        send();
    }

    private void send() {
        ManagedAccess source = access;
        if (source == null || done) {
            return;
        }
        try {
            while (offset < end && observer.isReady()) {
                int piece = (int) Math.min(MAX_DATA, end - offset);
                observer.onNext(LoadResponse.newBuilder()
                        .setData(UnsafeByteOperations.unsafeWrap(source.load(offset, piece)))
                        .build());
                offset += piece;
            }
            if (offset == end) {
                done = true;
                observer.onCompleted();
            }
        } catch (RuntimeException e) {
            done = true;
            calls.fail(observer, e);
        }
    }
}
