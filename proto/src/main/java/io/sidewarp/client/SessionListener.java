// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.RegionFault;
import io.sidewarp.v1.SharedReceiveQueueLimitReached;
import java.time.Duration;

/**
 * Asynchronous events of a session. Called one at a time, in order, on a thread that may block.
 */
public interface SessionListener {

    /**
     * A connection of the session changed its state, or waits for something that the message names. Called behind the
     * completions of the connection that came before, on queues of the session; after a second all the same, where nobody takes
     * them.
     */
    default void connectionChanged(ConnectionStateChange change) {}

    /** A region's backing failed; it is unusable until it is closed. */
    default void regionFault(RegionFault fault) {}

    /**
     * Messages left fewer receives on a shared receive queue than it was armed with: post more, and arm it again
     * ({@link SharedReceiveQueue#arm}).
     */
    default void sharedReceiveLimitReached(SharedReceiveQueueLimitReached event) {}

    /**
     * So many events came to nobody, for this process did not read them. {@link Connection#closed()} follows all the same. Look
     * for the state of regions ({@link Session#listRegions}), and arm shared receive queues again.
     */
    default void eventsLost(long count) {}

    /** The sidecar is stopping: no new connections, and work under way may finish within the given time. */
    default void draining(Duration grace) {}

    /** The session ended other than by {@link Session#close()}; everything outstanding fails with this cause. */
    default void lost(SidewarpException cause) {}
}
