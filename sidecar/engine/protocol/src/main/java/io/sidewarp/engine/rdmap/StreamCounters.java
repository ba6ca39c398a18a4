// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.verbs.QueuePairCounters;

/**
 * Counters of a stream. Only the event loop of the stream writes them. Other threads may read them at any time and see
 * slightly old values.
 */
final class StreamCounters {

    private long octetsSent;
    private long octetsReceived;
    private long writesSent;
    private long writesReceived;
    private long readsSent;
    private long readsServed;
    private long sendsSent;
    private long sendsReceived;
    private long immediatesSent;
    private long immediatesReceived;
    private long atomicsSent;
    private long atomicsServed;

    void sent(int opcode, long octets) {
        octetsSent += octets;
        switch (opcode) {
            case RdmapControl.RDMA_WRITE -> writesSent++;
            case RdmapControl.RDMA_READ_REQUEST -> readsSent++;
            case RdmapControl.RDMA_READ_RESPONSE -> readsServed++;
            case RdmapControl.IMMEDIATE, RdmapControl.IMMEDIATE_WITH_SE -> immediatesSent++;
            case RdmapControl.ATOMIC_REQUEST -> atomicsSent++;
            case RdmapControl.ATOMIC_RESPONSE -> atomicsServed++;
            default -> sendsSent++;
        }
    }

    void received(int octets) {
        octetsReceived += octets;
    }

    void writeReceived() {
        writesReceived++;
    }

    void sendReceived(long octets) {
        octetsReceived += octets;
        sendsReceived++;
    }

    void immediateReceived() {
        immediatesReceived++;
    }

    /**
     * Returns a snapshot.
     *
     * @param segmentsSent segments that DDP has sent
     * @param segmentsReceived segments that DDP has received
     */
    QueuePairCounters read(long segmentsSent, long segmentsReceived) {
        return new QueuePairCounters(
                octetsSent,
                octetsReceived,
                writesSent,
                writesReceived,
                readsSent,
                readsServed,
                sendsSent,
                sendsReceived,
                immediatesSent,
                immediatesReceived,
                atomicsSent,
                atomicsServed,
                segmentsSent,
                segmentsReceived);
    }
}
