// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.net.PeerLimit;
import io.sidewarp.provider.Listeners;
import java.net.InetSocketAddress;

/** Calls the application's {@link SoftwareEvents}, and logs any exception that they throw. */
record GuardedEvents(SoftwareEvents events) implements SoftwareEvents {

    @Override
    public void onStartupFailed(InetSocketAddress remote, String message) {
        Listeners.tell(() -> events.onStartupFailed(remote, message));
    }

    @Override
    public void onDenied(InetSocketAddress remote, SecurityDenial reason, String message) {
        Listeners.tell(() -> events.onDenied(remote, reason, message));
    }

    @Override
    public void onRefused(InetSocketAddress remote, String limit) {
        Listeners.tell(() -> events.onRefused(remote, limit));
    }

    @Override
    public void onPeerLimit(PeerLimit limit) {
        Listeners.tell(() -> events.onPeerLimit(limit));
    }

    @Override
    public void onAssociationClosed(long retransmittedChunks) {
        Listeners.tell(() -> events.onAssociationClosed(retransmittedChunks));
    }

    @Override
    public void onFault(Throwable fault) {
        Listeners.tell(() -> events.onFault(fault));
    }
}
