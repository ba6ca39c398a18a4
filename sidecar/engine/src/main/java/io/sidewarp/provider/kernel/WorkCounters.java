// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.rdmap.CompletionStatus;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.WorkCompletion;

/** What a queue pair has done, counted on the threads that poll. What peers do by Write and Read the device does not tell. */
final class WorkCounters {

    private long octetsSent;
    private long octetsReceived;
    private long writes;
    private long reads;
    private long sent;
    private long received;

    /** Counts work that was successful. */
    synchronized void count(WorkCompletion completion) {
        if (completion.status() != CompletionStatus.SUCCESS) {
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
