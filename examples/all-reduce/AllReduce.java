// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.sidewarp.client.Access;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;

/**
 * Adds arrays of several processes in a ring (all-reduce). Each process gets the sum.
 *
 * <pre>
 * AllReduce.java RANK HOST:PORT,HOST:PORT,... [COUNT]
 * </pre>
 *
 * <p>Start one process for each address, with ranks from 0 on. COUNT is the number of float32 values, 1,000,000 by
 * default. Each process sends only to the next one: a part of the array at a time, by RDMA Write with Immediate.
 */
final class AllReduce {

    private final SharedRegion region;
    private final int rank;
    private final int ranks;

    /** Bytes of a part. The array has a part for each process. */
    private final long part;

    private AllReduce(Session session, int rank, int ranks, long count) {
        this.rank = rank;
        this.ranks = ranks;
        part = Math.ceilDiv(count, ranks) * Float.BYTES;
        // An inbox for each step of the addition follows the array. So no step overwrites a part that this process has
        // not added yet.
        String path = "array-" + ProcessHandle.current().pid();
        region = session.createSharedRegion(path, (2 * ranks - 1) * part, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
        for (long i = 0; i < ranks * part / Float.BYTES; i++) {
            region.segment().setAtIndex(JAVA_FLOAT, i, (float) (i % 1000 + rank));
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int rank = Integer.parseInt(arguments[0]);
        String[] addresses = arguments[1].split(",");
        long count = arguments.length > 2 ? Long.parseLong(arguments[2]) : 1_000_000;
        try (SidewarpClient client = SidewarpClient.connect();
                Session session = client.openSession("all-reduce")) {
            AllReduce array = new AllReduce(session, rank, addresses.length, count);
            try (Ring ring = new Ring(session, rank, addresses, array.region, 2 * (addresses.length - 1))) {
                array.reduce(ring);
            }
            System.out.printf("rank %d: %s sum of %d values%n", rank, array.isRight() ? "right" : "WRONG", count);
        }
    }

    private void reduce(Ring ring) {
        // First, each part goes around the ring, and each process adds its values. At the end, this process has the sum
        // of the part behind its own.
        for (int step = 0; step < ranks - 1; step++) {
            long sent = offset(rank - step);
            long arrived = ring.step(region.slice(sent, part), (ranks + step) * part);
            add(arrived, offset(rank - step - 1));
        }
        // Then each sum goes around, into the same place everywhere.
        for (int step = 0; step < ranks - 1; step++) {
            long sent = offset(rank + 1 - step);
            ring.step(region.slice(sent, part), sent);
        }
    }

    private long offset(int place) {
        return Math.floorMod(place, ranks) * part;
    }

    private void add(long sourceOffset, long targetOffset) {
        MemorySegment source = region.segment().asSlice(sourceOffset, part);
        MemorySegment target = region.segment().asSlice(targetOffset, part);
        for (long at = 0; at < part; at += Float.BYTES) {
            target.set(JAVA_FLOAT, at, target.get(JAVA_FLOAT, at) + source.get(JAVA_FLOAT, at));
        }
    }

    private boolean isRight() {
        long others = ranks * (ranks - 1L) / 2;
        return LongStream.range(0, ranks * part / Float.BYTES)
                .allMatch(i -> region.segment().getAtIndex(JAVA_FLOAT, i) == ranks * (i % 1000) + others);
    }
}
