// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.context.Responses;

/** Responses of a gRPC call. */
record GrpcResponses<R>(ServerCallStreamObserver<R> call) implements Responses<R> {

    @Override
    public boolean isReady() {
        return call.isReady();
    }

    @Override
    public void onNext(R response) {
        call.onNext(response);
    }

    @Override
    public void onError(Throwable failure) {
        call.onError(failure);
    }

    @Override
    public void onCompleted() {
        call.onCompleted();
    }
}
