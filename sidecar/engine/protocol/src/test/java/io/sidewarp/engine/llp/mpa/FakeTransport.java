// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.ArrayList;
import java.util.List;

/** A TCP connection that only records the requests of MPA. */
final class FakeTransport implements MpaTransport {

    int emss = 1460;
    boolean outputRequested;
    int buffersOut;
    /** Octets of the buffers that were asked for. */
    final List<Integer> capacities = new ArrayList<>();

    final List<String> calls = new ArrayList<>();

    @Override
    public void requestOutput() {
        outputRequested = true;
    }

    @Override
    public void shutdownOutput() {
        calls.add("shutdownOutput");
    }

    @Override
    public void close() {
        calls.add("close");
    }

    @Override
    public void abort() {
        calls.add("abort");
    }

    @Override
    public int emss() {
        return emss;
    }

    @Override
    public WireBuffer acquireReassembly(int capacity) {
        buffersOut++;
        capacities.add(capacity);
        return WireBuffer.allocate(capacity);
    }

    @Override
    public void releaseReassembly(WireBuffer buffer) {
        buffersOut--;
    }
}
