// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

/** Answers each RDMA Write by an RDMA Write. */
final class WriteEcho implements Duty {

    private final WatchedMemory memory;

    WriteEcho(EngineEnd end, Link link) {
        memory = new WatchedMemory(end, link, (byte) 0);
    }

    @Override
    public boolean poll() {
        if (!memory.take()) {
            return false;
        }
        memory.write();
        return true;
    }

    @Override
    public boolean isDone() {
        return false;
    }

    @Override
    public boolean followsCompletions() {
        return false;
    }
}
