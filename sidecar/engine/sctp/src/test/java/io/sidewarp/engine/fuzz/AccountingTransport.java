// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.llp.mpa.MpaTransport;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/** A TCP connection that counts the buffers and requests of MPA. */
final class AccountingTransport implements MpaTransport {

    /** Largest buffer that a peer can make MPA borrow: the largest FPDU that ULPDU_Length can express, with Markers. */
    private static final int LARGEST_BUFFER = 66_100;

    /** Octets of a segment, and so of the largest FPDU that is sent. */
    static final int EMSS = 1460;

    private static final int KEPT = 4;

    /** Free buffers by capacity, a power of two. */
    private static final Map<Integer, ArrayDeque<WireBuffer>> POOL = new HashMap<>();

    private final Set<WireBuffer> borrowed = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean outputWanted;
    private boolean outputShut;
    private boolean aborted;
    private long calls;

    /** Returns whether output was requested since the last call. */
    boolean takeOutputWanted() {
        boolean wanted = outputWanted;
        outputWanted = false;
        return wanted;
    }

    boolean outputWanted() {
        return outputWanted;
    }

    boolean outputShut() {
        return outputShut;
    }

    boolean aborted() {
        return aborted;
    }

    /** Calls so far: a measure of work. */
    long calls() {
        return calls;
    }

    void verifyReturned() {
        Violation.unless(borrowed.isEmpty(), "a buffer was not given back");
    }

    @Override
    public void requestOutput() {
        calls++;
        outputWanted = true;
    }

    @Override
    public void shutdownOutput() {
        calls++;
        outputShut = true;
    }

    @Override
    public void close() {
        calls++;
        outputShut = true;
    }

    @Override
    public void abort() {
        calls++;
        aborted = true;
    }

    @Override
    public int emss() {
        return EMSS;
    }

    @Override
    public WireBuffer acquireReassembly(int capacity) {
        calls++;
        Violation.unless(borrowed.isEmpty(), "a connection borrows a second buffer");
        return lend(capacity);
    }

    @Override
    public WireBuffer growReassembly(WireBuffer buffer, int held, int capacity) {
        calls++;
        Violation.unless(capacity > buffer.capacity(), "a buffer is exchanged for one that is no larger");
        takeBack(buffer);
        WireBuffer larger = lend(capacity);
        larger.putBytes(0, buffer, 0, held);
        return larger;
    }

    @Override
    public void releaseReassembly(WireBuffer buffer) {
        calls++;
        takeBack(buffer);
    }

    private WireBuffer lend(int capacity) {
        Violation.unless(capacity <= LARGEST_BUFFER, "a connection borrows " + capacity + " octets");
        int rounded = Integer.highestOneBit(2 * capacity - 1);
        ArrayDeque<WireBuffer> pool = POOL.computeIfAbsent(rounded, ignored -> new ArrayDeque<>());
        WireBuffer buffer = pool.isEmpty() ? WireBuffer.allocate(rounded) : pool.pop();
        borrowed.add(buffer);
        return buffer;
    }

    private void takeBack(WireBuffer buffer) {
        Violation.unless(borrowed.remove(buffer), "a buffer was given back that was not borrowed");
        ArrayDeque<WireBuffer> pool = POOL.get(buffer.capacity());
        if (pool != null && pool.size() < KEPT) {
            pool.push(buffer);
        }
    }
}
