// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.QueuePairCounters;

/**
 * Counts the work of a queue pair, on the threads that poll. The device does not report Writes and Reads of the peer.
 */
final class WorkCounters {

    private long octetsSent;
    private long octetsReceived;
    private long writes;
    private long reads;
    private long sent;
    private long received;

    /** Counts the completion if it is successful. */
    synchronized void count(Cqe completion) {
        if (completion.status() != CqeStatus.SUCCESS) {
            return;
        }
        switch (completion.opcode()) {
            case RDMA_WRITE -> {
                writes++;
                octetsSent += completion.length();
            }
            case RDMA_READ -> {
                reads++;
                octetsReceived += completion.length();
            }
            case FLUSH -> {}
            case RECEIVE -> {
                received++;
                octetsReceived += completion.length();
            }
            default -> {
                sent++;
                octetsSent += completion.length();
            }
        }
    }

    synchronized QueuePairCounters copy() {
        return new QueuePairCounters(octetsSent, octetsReceived, writes, 0, reads, 0, sent, received, 0, 0, 0, 0, 0, 0);
    }
}
