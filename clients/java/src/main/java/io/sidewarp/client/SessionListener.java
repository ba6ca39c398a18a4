// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.RegionFault;
import io.sidewarp.v1.SharedReceiveQueueLimitReached;
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
    default void connectionChanged(ConnectionStateChange change) {}

    /** Reports that the backing of a region failed. The region is unusable until it is closed. */
    default void regionFault(RegionFault fault) {}

    /**
     * Reports that a shared receive queue has fewer receives than the armed limit. Post more receives, and arm the
     * limit again ({@link SharedReceiveQueue#arm}).
     */
    default void sharedReceiveLimitReached(SharedReceiveQueueLimitReached event) {}

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
