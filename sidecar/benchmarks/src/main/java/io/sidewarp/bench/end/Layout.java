// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/**
 * Layout of messages in the region of an end. Each connection has an area of slots, which messages use in turn. Behind
 * the slots are eight bytes for the Read that ends a run. A ping-pong has two slots: the peer fills the first, and this
 * end sends the second. As in {@code sidewarp perf}, an area's slots take 4 MiB at most, unless one message is larger.
 * Memory is therefore as warm as in a program that uses a few buffers.
 */
public final class Layout {

    /** Bytes of the Read that ends a run. */
    public static final int FENCE = 8;

    private static final long MEMORY = 4L << 20;
    private static final long ALIGNMENT = 64;

    private final long stride;
    private final int slots;
    private final int connections;

    public Layout(TransferPlan plan) {
        stride = (plan.size() + ALIGNMENT - 1) & -ALIGNMENT;
        slots = plan.mode() == TransferPlan.Mode.PING_PONG ? 2 : Math.clamp(MEMORY / stride, 1, plan.depth());
        connections = plan.connections();
    }

    /** Returns the length of the region in bytes. */
    public long length() {
        return connections * area();
    }

    /** Returns the offset of a message of a connection. */
    public long slot(int connection, long message) {
        return connection * area() + message % slots * stride;
    }

    public long fence(int connection) {
        return connection * area() + slots * stride;
    }

    private long area() {
        return slots * stride + ALIGNMENT;
    }
}
