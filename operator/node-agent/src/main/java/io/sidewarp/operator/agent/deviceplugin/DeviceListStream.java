// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ListAndWatchResponse;
import java.util.function.Supplier;

/**
 * One call of ListAndWatch. Sends the list at once and whenever it differs from what was sent last. A kubelet that does not
 * read gets the newest list when it does, and nothing is kept for it until then.
 */
final class DeviceListStream {

    private final ServerCallStreamObserver<ListAndWatchResponse> kubelet;
    private final Supplier<ListAndWatchResponse> list;
    private ListAndWatchResponse sent = ListAndWatchResponse.getDefaultInstance();
    private boolean anySent;
    private boolean completed;

    /** To be made in the handler of the call. */
    DeviceListStream(ServerCallStreamObserver<ListAndWatchResponse> kubelet, Supplier<ListAndWatchResponse> list) {
        this.kubelet = kubelet;
        this.list = list;
        kubelet.setOnReadyHandler(this::update);
    }

    synchronized void update() {
        if (completed || !kubelet.isReady()) {
            return;
        }
        ListAndWatchResponse now = list.get();
        if (!anySent || !now.equals(sent)) {
            anySent = true;
            sent = now;
            kubelet.onNext(now);
        }
    }

    synchronized void complete() {
        if (!completed) {
            completed = true;
            kubelet.onCompleted();
        }
    }
}
