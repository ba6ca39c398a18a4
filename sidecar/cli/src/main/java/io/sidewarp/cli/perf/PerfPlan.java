// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.ByteBuffer;

/**
 * What is measured, and how each side lays out its memory for it.
 *
 * <p>A side's region has an area for each connection: {@link #slots()} slots, each of a message rounded up to 64 octets,
 * and a tail of {@value #TAIL} octets. Messages use the slots in turn, so that memory stays small and warm however many
 * are under way. A latency test has two slots: the peer fills the first, the second is what this side sends.
 *
 * @param latency one message at a time, there and back, instead of as many as go
 * @param connections 1 to {@value #MAX_CONNECTIONS}
 * @param depth messages under way on a connection
 * @param signal one completion is asked for each so many messages
 * @param size octets of a message
 * @param seed of the pattern in each message
 */
public record PerfPlan(
        Operation operation, boolean latency, int connections, int depth, int signal, long size, long seed) {

    static final int MAX_CONNECTIONS = 1024;
    static final int MAX_DEPTH = 1 << 16;
    static final long MAX_SIZE = 0xFFFF_FFFFL;

    /** Octets after the slots of an area. */
    static final int TAIL = 1024;

    /** Where in the tail the read goes that ends a test; {@value #CREDIT_OFFSET} octets. */
    static final int FENCE_OFFSET = 0;

    /** Where in the tail the messages with credits are. */
    static final int CREDIT_OFFSET = 64;

    /** Octets of a credit message, and the distance from one to the next. */
    static final int CREDIT_LENGTH = 8;

    static final int CREDIT_SLOTS = 16;

    private static final long ALIGNMENT = 64;

    /** Octets of slots per connection: as many slots as fit, but at least one. */
    private static final long MEMORY = 4L << 20;

    /** @throws Failure when a number is out of its range */
    public PerfPlan {
        check("connections", connections, 1, latency ? 1 : MAX_CONNECTIONS);
        check("depth", depth, 1, MAX_DEPTH);
        check("signal", signal, 1, depth);
        check("size", size, latency && operation == Operation.WRITE ? 1 : 0, MAX_SIZE);
        if (depth % signal != 0) {
            throw new Failure(ExitCode.USAGE, "depth " + depth + " is no multiple of signal " + signal);
        }
    }

    /** Octets from one slot to the next. */
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

    /** Where the slot of a connection's message begins in the region. */
    long slotOffset(int connection, int message) {
        return connection * areaLength() + message % slots() * stride();
    }

    /** Where a connection's tail begins in the region. */
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

    private static void check(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new Failure(ExitCode.USAGE, what + " is " + value + ", and must be " + least + " to " + most);
        }
    }
}
