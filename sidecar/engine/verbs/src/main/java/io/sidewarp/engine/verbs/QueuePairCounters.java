// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Counters of a queue pair. Bytes are payload without headers. A message counts when it is complete.
 *
 * @param segmentsSent FPDUs or SCTP chunks. The same holds for {@code segmentsReceived}
 */
public record QueuePairCounters(
        long octetsSent,
        long octetsReceived,
        long writesSent,
        long writesReceived,
        long readsSent,
        long readsServed,
        long sendsSent,
        long sendsReceived,
        long immediatesSent,
        long immediatesReceived,
        long atomicsSent,
        long atomicsServed,
        long segmentsSent,
        long segmentsReceived) {

    /** Counters of a queue pair that was never connected. */
    public static final QueuePairCounters NONE = new QueuePairCounters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}
