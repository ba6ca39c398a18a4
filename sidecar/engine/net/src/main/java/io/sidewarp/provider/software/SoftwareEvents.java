// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.net.PeerLimit;
import java.net.InetSocketAddress;

/** Receives events that concern no queue pair. Event loops call the methods, which must not block. */
public interface SoftwareEvents {

    /** Receiver that ignores all events. */
    SoftwareEvents NONE = new SoftwareEvents() {};

    /**
     * Reports that an inbound connection failed during start-up, or before the application answered its connection
     * request.
     */
    default void onStartupFailed(InetSocketAddress remote, String message) {}

    /**
     * Reports that the policy of a listener denied an inbound connection. By default, this is a failed start-up.
     *
     * @param message text for people: the identities of both sides, and what to do
     */
    default void onDenied(InetSocketAddress remote, SecurityDenial reason, String message) {
        onStartupFailed(remote, message);
    }

    /**
     * Reports that an inbound connection was refused because a limit of its listener was reached.
     *
     * @param limit name of the limit
     */
    default void onRefused(InetSocketAddress remote, String limit) {}

    /** Reports that a connection was aborted because its peer exceeded a limit. */
    default void onPeerLimit(PeerLimit limit) {}

    /**
     * Reports that an established SCTP association has ended.
     *
     * @param retransmittedChunks number of chunks that the association has retransmitted in total
     */
    default void onAssociationClosed(long retransmittedChunks) {}

    /** Reports an uncaught exception in the code of a connection. The connection was aborted. */
    default void onFault(Throwable fault) {}
}
