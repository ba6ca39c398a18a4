// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.context.Responses;
import java.util.ArrayList;
import java.util.List;

/** Records the responses of a call without a transport. The call is ready for responses after {@link #setReady}. */
public class PlayedCall<R> extends ServerCallStreamObserver<R> implements Responses<R> {

    private final List<R> told = new ArrayList<>();
    private volatile boolean ready;

    /** Returns the recorded responses. Only one thread may respond to the call. */
    public List<R> told() {
        return told;
    }

    public void setReady() {
        ready = true;
    }

    @Override
    public boolean isReady() {
        return ready;
    }

    @Override
    public void onNext(R response) {
        told.add(response);
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public void setOnCancelHandler(Runnable handler) {}

    @Override
    public void setOnReadyHandler(Runnable handler) {}

    @Override
    public void setCompression(String compression) {}

    @Override
    public void setMessageCompression(boolean enable) {}

    @Override
    public void disableAutoInboundFlowControl() {}

    @Override
    public void disableAutoRequest() {}

    @Override
    public void request(int count) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
}
