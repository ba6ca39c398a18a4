// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;

/**
 * Sends one RDMA Write there and one back in turn. Each side polls its memory for the last byte of the message, as RDMA
 * applications do. The latency is half of the round trip.
 */
final class WritePingPong extends Driver {

    private final WorkQueue queue;
    private final WorkRequest write;
    private final WatchedMemory memory;
    private final Thread thread = new Thread(this::run, "sidewarp-perf-latency");

    WritePingPong(WorkQueue queue, WorkRequest write, WatchedMemory memory) {
        this.queue = queue;
        this.write = write;
        this.memory = memory;
        thread.setDaemon(true);
    }

    @Override
    void start() {
        thread.start();
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
                memory.prepare(sequence);
                long start = System.nanoTime();
                queue.post(sequence, write);
                memory.await(sequence);
                count(1, (System.nanoTime() - start) / 2);
            }
            finish();
        } catch (InterruptedException e) {
            finish();
        } catch (RuntimeException e) {
            fail(e);
        }
    }
}
