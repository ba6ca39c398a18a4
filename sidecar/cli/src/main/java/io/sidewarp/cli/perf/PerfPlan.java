// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.ByteBuffer;

/**
 * Plan of a measurement, and the layout of each side's memory for it.
 *
 * <p>A side's region has an area for each connection: {@link #slots()} slots, and a tail of {@value #TAIL} bytes. A
 * slot is a message rounded up to 64 bytes. Messages use the slots in turn, so that memory stays small and warm for any
 * number of messages in flight. A latency test has two slots: the peer fills the first, and this side sends the second.
 *
 * @param latency true for one message at a time, there and back; false for as many as possible
 * @param connections 1 to {@value #MAX_CONNECTIONS}
 * @param depth messages in flight on a connection
 * @param signal number of messages for each completion
 * @param size bytes of a message
 * @param seed of the pattern in each message
 */
public record PerfPlan(
        Operation operation, boolean latency, int connections, int depth, int signal, long size, long seed) {

    static final int MAX_CONNECTIONS = 1024;
    static final int MAX_DEPTH = 1 << 16;
    static final long MAX_SIZE = 0xFFFF_FFFFL;

    /** Bytes after the slots of an area. */
    static final int TAIL = 1024;

    /** Offset in the tail of the Read that ends a test. It has {@value #CREDIT_OFFSET} bytes. */
    static final int FENCE_OFFSET = 0;

    /** Offset in the tail of the credit messages. */
    static final int CREDIT_OFFSET = 64;

    /** Bytes of a credit message, and the distance between two of them. */
    static final int CREDIT_LENGTH = 8;

    static final int CREDIT_SLOTS = 16;

    private static final long ALIGNMENT = 64;

    /** Bytes of slots per connection. As many slots as fit are used, but at least one. */
    private static final long MEMORY = 4L << 20;

    /** @throws Failure when a number is out of its range */
    public PerfPlan {
        Failure.checkRange("connections", connections, 1, latency ? 1 : MAX_CONNECTIONS);
        Failure.checkRange("depth", depth, 1, MAX_DEPTH);
        Failure.checkRange("signal", signal, 1, depth);
        Failure.checkRange("size", size, latency && operation == Operation.WRITE ? 1 : 0, MAX_SIZE);
        if (depth % signal != 0) {
            throw new Failure(ExitCode.USAGE, "depth " + depth + " is not a multiple of signal " + signal);
        }
    }

    /** Returns whether threads wait for RDMA Writes by polling memory. */
    boolean pollsMemory() {
        return latency && operation == Operation.WRITE;
    }

    /** Returns the bytes from one slot to the next. */
    long stride() {
        return Math.max((size + ALIGNMENT - 1) & -ALIGNMENT, ALIGNMENT);
    }

    int slots() {
        return latency ? 2 : Math.clamp(MEMORY / stride(), 1, depth);
    }

    long areaLength() {
        return slots() * stride() + TAIL;
    }

    long regionLength() {
        return connections * areaLength();
    }

    /** Returns the offset in the region of the slot for a connection's message. */
    long slotOffset(int connection, int message) {
        return connection * areaLength() + message % slots() * stride();
    }

    /** Returns the offset in the region of a connection's tail. */
    long tailOffset(int connection) {
        return connection * areaLength() + slots() * stride();
    }

    void encode(ByteBuffer target) {
        target.put((byte) operation.number())
                .put((byte) (latency ? 1 : 0))
                .putShort((short) connections)
                .putInt(depth)
                .putInt(signal)
                .putLong(size)
                .putLong(seed);
    }

    static PerfPlan decode(ByteBuffer source) {
        Operation operation = Operation.ofNumber(source.get());
        boolean latency = source.get() != 0;
        int connections = Short.toUnsignedInt(source.getShort());
        return new PerfPlan(
                operation, latency, connections, source.getInt(), source.getInt(), source.getLong(), source.getLong());
    }
}
