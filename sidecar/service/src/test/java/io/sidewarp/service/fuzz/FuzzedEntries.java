// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.v1.Region;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes entries of work rings: valid entries, and valid entries with one error. */
final class FuzzedEntries {

    private static final int[] LENGTHS = {0, 1, 8, 9, 64, 999, 1000, 1001, 4096, 1 << 20, Integer.MAX_VALUE, -1};
    private static final long[] OFFSETS = {0, 1, 8, 992, 999, 1000, 1001, 4096, Long.MAX_VALUE, -1, -4096};

    /** Objects of the session that may be named rightly. */
    final List<Long> connections = new ArrayList<>();

    final List<Long> sharedReceives = new ArrayList<>();
    final List<Region> regions = new ArrayList<>();

    /** Regions of the peer. */
    final List<Region> remote = new ArrayList<>();

    /** Objects that belong to others, or to nobody. */
    final List<Long> foreign = new ArrayList<>();

    final List<Region> foreignRegions = new ArrayList<>();

    private final WorkEntryFlyweight entry =
            new WorkEntryFlyweight(MemorySegment.ofArray(new long[WorkEntryFlyweight.MAX_BLOCKS * 8]));

    int blocks() {
        return Math.clamp(entry.blocks(), 1, WorkEntryFlyweight.MAX_BLOCKS);
    }

    boolean isReceive() {
        return entry.opcode() == WorkEntryFlyweight.OPCODE_RECEIVE;
    }

    byte[] bytes() {
        return entry.segment().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Makes an entry that keeps all rules, as far as the objects are still there. */
    void valid(Random random) {
        entry.segment().fill((byte) 0);
        int opcode = random.nextInt(4) == 0
                ? WorkEntryFlyweight.OPCODE_SEND
                : 1 + random.nextInt(WorkEntryFlyweight.OPCODE_FLUSH);
        entry.opcode(opcode)
                .id(random.nextLong())
                .tag(random.nextInt(256))
                .connection(connection(random))
                .flags(flags(random));
        Region far = random.nextInt(10) == 0 ? one(remote, random) : remote.getFirst();
        entry.remoteStag(far.getStag()).remoteOffset(far.getBaseTaggedOffset() + random.nextInt(4) * 8L);
        if (WorkEntryFlyweight.hasOperands(opcode)) {
            entry.operands(random.nextLong(), -1, random.nextInt(2), -1);
        }
        if (opcode == WorkEntryFlyweight.OPCODE_RECEIVE && !sharedReceives.isEmpty() && random.nextBoolean()) {
            entry.flags(entry.flags() | WorkEntryFlyweight.FLAG_SHARED).connection(one(sharedReceives, random));
        }
        if (takesInline(opcode) && random.nextInt(4) == 0) {
            inline(random);
        } else {
            elements(random, opcode);
        }
    }

    /** Makes a receive for any message that a right entry of the peer may send. */
    void receive(Random random) {
        entry.segment().fill((byte) 0);
        entry.opcode(WorkEntryFlyweight.OPCODE_RECEIVE)
                .id(random.nextLong())
                .connection(connections.getLast())
                .element(0, regions.getFirst().getId(), 0, GuardedRegion.LENGTH)
                .elements(1)
                .blocks(1);
    }

    /** Returns the newest connection, as a rule. */
    private long connection(Random random) {
        return random.nextInt(8) == 0 ? one(connections, random) : connections.getLast();
    }

    /** Returns a region that may be written, as a rule. */
    private long local(Random random) {
        return (random.nextInt(10) == 0 ? one(regions, random) : regions.get(random.nextInt(2))).getId();
    }

    /** Returns whether the entry takes a receive of the peer. */
    boolean takesReceive() {
        int opcode = entry.opcode();
        return opcode == WorkEntryFlyweight.OPCODE_SEND
                || opcode == WorkEntryFlyweight.OPCODE_IMMEDIATE
                || opcode == WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE;
    }

    private static int flags(Random random) {
        int all = WorkEntryFlyweight.FLAG_FENCE
                | WorkEntryFlyweight.FLAG_LOCAL_FENCE
                | WorkEntryFlyweight.FLAG_UNSIGNALED
                | WorkEntryFlyweight.FLAG_SOLICITED;
        int some = random.nextInt() & all;
        return some & random.nextInt();
    }

    private static boolean takesInline(int opcode) {
        return opcode == WorkEntryFlyweight.OPCODE_WRITE
                || opcode == WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE
                || opcode == WorkEntryFlyweight.OPCODE_SEND;
    }

    private void inline(Random random) {
        byte[] payload = new byte[random.nextInt(WorkEntryFlyweight.MAX_INLINE + 1)];
        random.nextBytes(payload);
        entry.element(0, 0, 0, payload.length).flags(entry.flags() | WorkEntryFlyweight.FLAG_INLINE);
        entry.payload(MemorySegment.ofArray(payload));
        entry.blocks(WorkEntryFlyweight.inlineBlocks(entry.opcode(), payload.length));
    }

    private void elements(Random random, int opcode) {
        int count = switch (opcode) {
            case WorkEntryFlyweight.OPCODE_WRITE,
                    WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE,
                    WorkEntryFlyweight.OPCODE_SEND,
                    WorkEntryFlyweight.OPCODE_RECEIVE ->
                random.nextInt(4) == 0 ? random.nextInt(WorkEntryFlyweight.MAX_ELEMENTS + 1) : 1;
            case WorkEntryFlyweight.OPCODE_READ,
                    WorkEntryFlyweight.OPCODE_FETCH_ADD,
                    WorkEntryFlyweight.OPCODE_COMPARE_SWAP -> 1;
            default -> 0;
        };
        boolean atomic =
                opcode == WorkEntryFlyweight.OPCODE_FETCH_ADD || opcode == WorkEntryFlyweight.OPCODE_COMPARE_SWAP;
        for (int i = 0; i < count; i++) {
            entry.element(i, local(random), random.nextInt(8) * 8L, atomic ? Long.BYTES : random.nextInt(64));
        }
        entry.elements(count).blocks(WorkEntryFlyweight.blocks(opcode, count));
    }

    /** Makes something wrong with the entry. */
    void mutate(Random random) {
        for (int i = random.nextInt(3); i >= 0; i--) {
            mutateOnce(random);
        }
    }

    private void mutateOnce(Random random) {
        switch (random.nextInt(12)) {
            case 0, 1 -> {
                int at = Long.BYTES + random.nextInt(blocks() * RingLayout.BLOCK_SIZE - Long.BYTES);
                byte old = entry.segment().get(ValueLayout.JAVA_BYTE, at);
                entry.segment().set(ValueLayout.JAVA_BYTE, at, (byte) (old ^ 1 << random.nextInt(8)));
            }
            case 2 -> entry.opcode(random.nextInt(random.nextBoolean() ? 14 : 256));
            case 3 -> entry.blocks(random.nextInt(8) == 0 ? random.nextInt(256) : 1 + random.nextInt(10));
            case 4 -> entry.elements(random.nextInt(random.nextBoolean() ? 18 : 256));
            case 5 -> entry.flags(random.nextBoolean() ? random.nextInt(256) : random.nextInt());
            case 6 -> entry.connection(random.nextInt(4) == 0 ? random.nextLong() : anything(random));
            case 7, 8 -> element(random);
            case 9 -> {
                Region region = region(random);
                entry.remoteStag(region.getStag()).remoteOffset(region.getBaseTaggedOffset() + offset(random));
            }
            case 10 -> entry.remoteStag(random.nextInt());
            default -> entry.operands(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
        }
    }

    private void element(Random random) {
        int which = random.nextInt(Math.clamp(entry.elements(), 1, WorkEntryFlyweight.MAX_ELEMENTS));
        long id = random.nextInt(3) == 0 ? anything(random) : region(random).getId();
        int length = LENGTHS[random.nextInt(LENGTHS.length)];
        // The place of an element depends on the opcode, which may be wrong by now.
        if ((which + 5) / 2 < WorkEntryFlyweight.MAX_BLOCKS) {
            entry.element(which, id, offset(random), length);
        }
    }

    private static long offset(Random random) {
        return OFFSETS[random.nextInt(OFFSETS.length)];
    }

    private Region region(Random random) {
        return switch (random.nextInt(3)) {
            case 0 -> one(regions, random);
            case 1 -> one(remote, random);
            default -> one(foreignRegions, random);
        };
    }

    private long anything(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> one(connections, random);
            case 1 -> one(foreign, random);
            case 2 -> region(random).getId();
            default -> random.nextInt(100);
        };
    }

    private static <T> T one(List<T> list, Random random) {
        return list.get(random.nextInt(list.size()));
    }
}
