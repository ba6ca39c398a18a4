// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;

/**
 * Either end of a test that sends one RDMA Write there and one back in turn. Each side polls its memory for the last
 * byte of the message, as RDMA applications do. The latency is half of the round trip.
 */
final class WriteRoundTrips extends DataEnd {

    private final WorkRequest write;
    private final LatencySlots slots;
    private final boolean first;
    private final Thread thread = new Thread(this::run, "sidewarp-perf-latency");

    /** @param first whether this end sends first, and measures */
    WriteRoundTrips(WorkQueue queue, WorkRequest write, LatencySlots slots, boolean first) {
        super(queue);
        this.write = write;
        this.slots = slots;
        this.first = first;
        thread.setDaemon(true);
    }

    @Override
    void start() {
        thread.start();
    }

    /** Stops after the round that is under way. The end that answers waits for no other round. */
    @Override
    void stop() {
        super.stop();
        if (!first) {
            thread.interrupt();
            joinThread();
        }
    }

    @Override
    void fail(Throwable cause) {
        super.fail(cause);
        thread.interrupt();
    }

    @Override
    void completed(long id) {}

    private void run() {
        byte sequence = 0;
        try {
            while (!isStopping()) {
                sequence++;
                if (first) {
                    slots.prepare(sequence);
                    long start = System.nanoTime();
                    queue.post(sequence, write);
                    slots.await(sequence);
                    count(1, (System.nanoTime() - start) / 2);
                } else {
                    slots.await(sequence);
                    slots.prepare(sequence);
                    queue.post(sequence, write);
                    count(1);
                }
            }
            finish();
        } catch (InterruptedException e) {
            finish();
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    private void joinThread() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
