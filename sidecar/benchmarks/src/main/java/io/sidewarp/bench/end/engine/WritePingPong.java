// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

/** Sends one RDMA Write there, and waits for one back; each end polls its memory. */
final class WritePingPong extends PingPong {

    private final WatchedMemory memory;

    WritePingPong(EngineEnd end, Link link, long nanos) {
        super(nanos, 2);
        memory = new WatchedMemory(end, link, WatchedMemory.count(end));
    }

    @Override
    void send() {
        memory.write();
    }

    @Override
    boolean receive() {
        return memory.take();
    }

    @Override
    public boolean followsCompletions() {
        return false;
    }
}
