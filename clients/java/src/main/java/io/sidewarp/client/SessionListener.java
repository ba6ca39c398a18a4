// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;

/**
 * A listener for asynchronous events of a session. Called for one event at a time, in order, on a thread that may
 * block.
 */
public interface SessionListener {

    /**
     * Reports that a connection of the session changed its state, or waits for something that the message names. The
     * call comes after the earlier completions of the connection on queues of the session. If nobody takes these
     * completions, the call comes after a second.
     */
    default void connectionChanged(ConnectionEvent event) {}

    /**
     * Reports that the backing of a region failed, for example because its file was truncated. The region is unusable
     * until it is closed. Connections whose peer accessed the region were terminated.
     *
     * @param region {@link Region#id()}
     * @param message what happened, for people
     */
    default void regionFault(long region, String message) {}

    /**
     * Reports that a shared receive queue has fewer receives than the armed limit. Post more receives, and arm the
     * limit again ({@link SharedReceiveQueue#arm}).
     *
     * @param queue {@link SharedReceiveQueue#id()}
     * @param limit the limit that was armed
     */
    default void sharedReceiveLimitReached(long queue, int limit) {}

    /**
     * Reports that events were lost, because this process did not read them. {@link Connection#closed()} completes
     * nevertheless. Check the state of regions ({@link Session#listRegions}), and arm shared receive queues again.
     *
     * @param count number of lost events
     */
    default void eventsLost(long count) {}

    /**
     * Reports that the sidecar is stopping. It refuses new connections; outstanding work may finish within the given
     * time.
     */
    default void draining(Duration grace) {}

    /**
     * Reports that the session ended other than by {@link Session#close()}. Everything outstanding fails with this
     * cause.
     */
    default void lost(SidewarpException cause) {}
}
