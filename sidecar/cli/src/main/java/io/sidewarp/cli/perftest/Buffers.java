// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.client.Access;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;

/**
 * One side's memory. Each connection has a buffer that the peer uses, and a buffer that this side sends from or reads
 * into.
 */
final class Buffers implements AutoCloseable {

    private final SharedRegion region;
    private final int size;
    private final long stride;

    /**
     * @param page unit in bytes in which buffers are rounded up; the peer may use any part of a page or of a message
     */
    Buffers(Session session, PerftestPlan plan, int page) {
        size = plan.size();
        stride = Math.max((size + page - 1L) / page * page, page);
        region = session.createSharedRegion(
                RegionNames.next("perftest"),
                2 * stride * plan.connections(),
                Access.LOCAL_WRITE,
                Access.REMOTE_READ,
                Access.REMOTE_WRITE);
    }

    SharedRegion region() {
        return region;
    }

    /** Returns the offset in the region of the buffer for the peer. */
    long offered(int connection) {
        return 2 * stride * connection;
    }

    /** Returns the offset in the region of this side's buffer. */
    long own(int connection) {
        return offered(connection) + stride;
    }

    Sge offeredSlice(int connection) {
        return region.slice(offered(connection), size);
    }

    Sge ownSlice(int connection) {
        return region.slice(own(connection), size);
    }

    /** Returns the destination to send to the peer. */
    Destination destination(int connection, int outstandingReads) {
        return new Destination(outstandingReads, connection + 1, region.address(offered(connection)));
    }

    @Override
    public void close() {
        region.close();
    }
}
