// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.wire.Pattern;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.client.Access;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * One side's memory for a test. {@link PerfPlan} has its layout.
 *
 * @param region is closed with this object
 */
record PerfMemory(PerfPlan plan, SharedRegion region) implements AutoCloseable {

    static PerfMemory create(Session session, PerfPlan plan) {
        SharedRegion region = session.createSharedRegion(
                RegionNames.next("perf"),
                plan.regionLength(),
                Access.LOCAL_WRITE,
                Access.REMOTE_READ,
                Access.REMOTE_WRITE);
        return new PerfMemory(plan, region);
    }

    RemoteAddress address() {
        return region.address();
    }

    /** Returns the slot for a connection's message. */
    Sge slot(int connection, int message) {
        return region.slice(plan.slotOffset(connection, message), plan.size());
    }

    /** Returns the slot of a connection's credit message. */
    Sge creditSlot(int connection, int slot) {
        long offset = plan.tailOffset(connection) + PerfPlan.CREDIT_OFFSET;
        return region.slice(offset + (long) slot * PerfPlan.CREDIT_LENGTH, PerfPlan.CREDIT_LENGTH);
    }

    /** Returns the memory of all credit messages of a connection. */
    ByteBuffer credits(int connection) {
        return region.buffer(
                plan.tailOffset(connection) + PerfPlan.CREDIT_OFFSET, PerfPlan.CREDIT_SLOTS * PerfPlan.CREDIT_LENGTH);
    }

    /** Writes the pattern into each slot of each connection. */
    void fill() {
        for (int connection = 0; connection < plan.connections(); connection++) {
            for (int slot = 0; slot < plan.slots(); slot++) {
                Pattern.fill(segment(connection, slot), plan.seed());
            }
        }
    }

    /**
     * Returns the number of slots that do not hold the pattern.
     *
     * @param slots number of slots to check on each connection
     */
    long countWrong(int slots) {
        long wrong = 0;
        for (int connection = 0; connection < plan.connections(); connection++) {
            for (int slot = 0; slot < slots; slot++) {
                if (Pattern.firstDifference(segment(connection, slot), plan.seed()) >= 0) {
                    wrong++;
                }
            }
        }
        return wrong;
    }

    @Override
    public void close() {
        region.close();
    }

    private MemorySegment segment(int connection, int slot) {
        return region.segment().asSlice(plan.slotOffset(connection, slot), plan.size());
    }
}
