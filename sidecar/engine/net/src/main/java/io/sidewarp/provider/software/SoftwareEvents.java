// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.net.PeerLimit;
import java.net.InetSocketAddress;

/** Receives events that concern no queue pair. Called on event loops, must not block. */
public interface SoftwareEvents {

    /** Ignores all events. */
    SoftwareEvents NONE = new SoftwareEvents() {};

    /** An inbound connection failed before it became a connection request, or lapsed while it waited for an answer. */
    default void onStartupFailed(InetSocketAddress remote, String message) {}

    /** An inbound connection was refused because a limit of its listener was reached. */
    default void onRefused(InetSocketAddress remote, String limit) {}

    /** A connection was aborted because its peer exceeded a limit. */
    default void onPeerLimit(PeerLimit limit) {}

    /**
     * An SCTP association that was up has ended.
     *
     * @param retransmittedChunks number of retransmitted chunks during its whole life
     */
    default void onAssociationClosed(long retransmittedChunks) {}

    /** An exception escaped a connection, which was aborted. */
    default void onFault(Throwable fault) {}
}
