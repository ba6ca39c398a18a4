// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The client of a call. Reads only the first response until a test lets it read. */
public final class SlowReader<Q, R> implements ClientResponseObserver<Q, R> {

    private final BlockingQueue<R> responses = new LinkedBlockingQueue<>();
    private ClientCallStreamObserver<Q> call;

    @Override
    public void beforeStart(ClientCallStreamObserver<Q> started) {
        call = started;
        call.disableAutoRequestWithInitial(1);
    }

    public R next() throws InterruptedException {
        R response = responses.poll(20, TimeUnit.SECONDS);
        assertThat(response).isNotNull();
        return response;
    }

    public void read() {
        call.request(Integer.MAX_VALUE);
    }

    /** Returns a value of each next response, up to the response with the last value. */
    public <V> List<V> until(V last, Function<R, V> told) throws InterruptedException {
        List<V> all = new ArrayList<>();
        do {
            all.add(told.apply(next()));
        } while (!all.getLast().equals(last));
        return all;
    }

    @Override
    public void onNext(R response) {
        responses.add(response);
    }

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
}
