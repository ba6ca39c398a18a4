// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/**
 * Where messages are in the region of an end: for each connection an area of slots, which messages use in turn, and
 * behind it eight octets for the Read that ends a run. A ping-pong has two slots: the peer fills the first, the second
 * is what this end sends. As in {@code sidewarp perf}, an area's slots take 4 MiB at most unless one message is
 * larger, so that memory is as warm as that of a program which uses a few buffers.
 */
public final class Layout {

    /** Octets of the Read that ends a run. */
    public static final int FENCE = 8;

    private static final long MEMORY = 4L << 20;
    private static final long ALIGNMENT = 64;

    private final long stride;
    private final int slots;
    private final int connections;

    public Layout(TransferPlan plan) {
        stride = (plan.size() + ALIGNMENT - 1) & -ALIGNMENT;
        slots = plan.mode() == Mode.PING_PONG ? 2 : Math.clamp(MEMORY / stride, 1, plan.depth());
        connections = plan.connections();
    }

    /** Octets of the region. */
    public long length() {
        return connections * area();
    }

    /** Offset of a message of a connection. */
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
