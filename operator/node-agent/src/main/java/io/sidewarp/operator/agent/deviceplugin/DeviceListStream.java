// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ListAndWatchResponse;
import java.util.function.Supplier;

/**
 * One call of ListAndWatch. Sends the list at once, and again whenever the list differs from the last one sent. A slow
 * kubelet gets only the newest list when it reads again; older lists are not queued.
 */
final class DeviceListStream {

    private final ServerCallStreamObserver<ListAndWatchResponse> kubelet;
    private final Supplier<ListAndWatchResponse> list;
    private ListAndWatchResponse sent = ListAndWatchResponse.getDefaultInstance();
    private boolean anySent;
    private boolean completed;

    /** Must be called in the handler of the call, since the ready handler can be set only there. */
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
