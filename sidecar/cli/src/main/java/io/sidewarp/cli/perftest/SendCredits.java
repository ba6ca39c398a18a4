// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Number of Sends that the server has received: four bytes, little-endian, which it writes to the client's memory. The
 * client never sends more than the server has receives, because a Send without a receive ends an iWARP connection.
 */
final class SendCredits {

    /** Number of receives that perftest posts on a connection, if there are as many messages. */
    private static final int DEFAULT_RECEIVES = 512;

    private static final int LENGTH = Integer.BYTES;
    private static final VarHandle COUNT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final long PARK_NANOS = 20_000;

    private final Buffers buffers;
    private final int receives;
    private final int group;
    private final int[] counts;

    SendCredits(PerftestPlan plan, Buffers buffers) {
        this.buffers = buffers;
        receives = Math.min(plan.iterations(), DEFAULT_RECEIVES);
        group = Math.max(receives / 4, 1);
        counts = new int[plan.connections()];
    }

    /** Counts a message at the server. From time to time, returns the count to write to the client. */
    Optional<Sge> received(int connection) {
        counts[connection]++;
        if (counts[connection] % group != 0) {
            return Optional.empty();
        }
        SharedRegion region = buffers.region();
        COUNT.setVolatile(region.segment(), buffers.own(connection), counts[connection]);
        return Optional.of(region.slice(buffers.own(connection), LENGTH));
    }

    /**
     * Waits at the client until it may send one more message.
     *
     * @param sent messages of the connection so far
     */
    void await(int connection, int sent, Duration patience) {
        long begin = System.nanoTime();
        while (sent + 1 - (int) COUNT.getVolatile(buffers.region().segment(), buffers.offered(connection)) >= receives
                && receives > 1) {
            if (System.nanoTime() - begin > patience.toNanos()) {
                throw new Failure(
                        ExitCode.TEMPORARY, "the peer received nothing for " + patience.toSeconds() + " seconds");
            }
            LockSupport.parkNanos(PARK_NANOS);
        }
    }
}
