// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.session.Session;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import org.jspecify.annotations.Nullable;

/** One Load call. Sends the next piece when the transport has taken the previous one. Runs on the session's thread. */
final class LoadCall {

    private static final int MAX_DATA = 128 << 10;

    private final Calls calls;
    private final ServerCallStreamObserver<LoadResponse> observer;
    private volatile @Nullable Session session;
    private @Nullable ManagedAccess access;
    private long offset;
    private long end;
    private boolean done;

    LoadCall(Calls calls, ServerCallStreamObserver<LoadResponse> observer) {
        this.calls = calls;
        this.observer = observer;
        observer.setOnReadyHandler(this::onReady);
        observer.setOnCloseHandler(this::onEnd);
        observer.setOnCancelHandler(this::onEnd);
    }

    void start(Session newSession, LoadRequest request) {
        ManagedAccess source = ManagedAccess.of(newSession, request.getRegion(), request.getOffset());
        offset = request.getOffset();
        long length = request.getLength() == 0 ? source.length() - offset : request.getLength();
        source.check(offset, length);
        end = offset + length;
        access = source;
        session = newSession;
        send();
    }

    /** Continues when the transport can take more data. Called on the transport's thread. */
    private void onReady() {
        Session current = session;
        if (current != null) {
            current.context().run(this::send);
        }
    }

    /** Stops when the caller has received everything or has left. Called on the transport's thread. */
    private void onEnd() {
        Session current = session;
        if (current != null) {
            current.context().run(() -> done = true);
        }
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
