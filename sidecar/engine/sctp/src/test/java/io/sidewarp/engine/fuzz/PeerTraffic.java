// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.fuzz.GuardedRegions.Kind;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.Ulpdus;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * The peer's DDP and RDMAP. Builds segments from a fuzzer's data. Most segments are valid, so that a stream lives long
 * enough to reach deep states. Any field of any segment can be made wrong.
 */
final class PeerTraffic {

    /** Kinds of segments that {@link #next} makes. */
    private static final int KINDS = 10;

    private static final int ATOMIC_REQUEST = 0xA;
    private static final int PATTERN_LENGTH = 1 << 16;
    private static final byte[] PATTERN = Octets.pattern(PATTERN_LENGTH, 42);

    private final GuardedRegions regions;
    private final int[] nextMsn = {1, 1, 1, 1};
    private final ArrayDeque<ReadRequest> reads = new ArrayDeque<>();
    private final ArrayDeque<Integer> atomics = new ArrayDeque<>();
    private long sendOffset;
    private long readOffset;

    /** A read that the endpoint requested. */
    private record ReadRequest(int sinkStag, long sinkTo, long size) {}

    PeerTraffic(GuardedRegions regions) {
        this.regions = regions;
    }

    /** The endpoint sent a Read Request or an Atomic Request. */
    void onRequest(Segment segment) {
        ByteBuffer request = ByteBuffer.wrap(segment.payload());
        if (segment.opcode() == ATOMIC_REQUEST) {
            atomics.add(request.getInt(4));
            return;
        }
        reads.add(new ReadRequest(request.getInt(0), request.getLong(4), request.getInt(12) & 0xFFFF_FFFFL));
    }

    /** The next ULPDU. */
    byte[] next(FuzzInput in) {
        int kind = in.below(KINDS);
        int mutation = in.octet();
        byte[] ulpdu = switch (kind) {
            case 0, 1 -> write(in);
            case 2, 3 -> send(in);
            case 4 -> readRequest(in);
            case 5, 6 -> readResponse(in);
            case 7 -> rare(in);
            case 8 -> anyHeader(in, true);
            default -> anyHeader(in, false);
        };
        return mutation < 0xC0 ? ulpdu : mutate(in, ulpdu, mutation & 0x3F);
    }

    private byte[] write(FuzzInput in) {
        Kind kind = Kind.of(in.octet());
        boolean last = in.yes();
        MemoryRegion region = regions.get(kind);
        byte[] payload = payload(in);
        long to = region.baseTaggedOffset() + in.octet() * 16L;
        return Ulpdus.tagged(tagged(last), 0x40, region.stag(), to, payload);
    }

    private byte[] send(FuzzInput in) {
        int flags = in.octet();
        boolean last = (flags & 1) != 0;
        int opcode = 3 + (flags >> 1 & 3);
        int stag = regions.get(Kind.of(flags >> 3)).stag();
        byte[] payload = payload(in);
        byte[] ulpdu = Ulpdus.untagged(untagged(last), 0x40 | opcode, stag, 0, nextMsn[0], sendOffset, payload);
        sendOffset = last ? 0 : sendOffset + payload.length;
        nextMsn[0] += last ? 1 : 0;
        return ulpdu;
    }

    private byte[] readRequest(FuzzInput in) {
        MemoryRegion region = regions.get(Kind.of(in.octet()));
        long from = region.baseTaggedOffset() + in.octet() * 16L;
        byte[] header = Ulpdus.readRequestHeader(in.word(), in.octet(), in.length(), region.stag(), from);
        return Ulpdus.untagged(untagged(true), 0x41, 0, 1, nextMsn[1]++, 0, header);
    }

    /** A part of the answer to the oldest read. */
    private byte[] readResponse(FuzzInput in) {
        ReadRequest read = reads.peek();
        if (read == null) {
            return Ulpdus.tagged(tagged(true), 0x42, 0, 0, new byte[0]);
        }
        long left = read.size() - readOffset;
        boolean all = in.yes();
        int length = (int) Math.min(all ? PATTERN_LENGTH - 14 : in.length(), left);
        boolean last = length == left;
        byte[] payload = Arrays.copyOf(PATTERN, length);
        byte[] ulpdu = Ulpdus.tagged(tagged(last), 0x42, read.sinkStag(), read.sinkTo() + readOffset, payload);
        readOffset = last ? 0 : readOffset + length;
        if (last) {
            reads.remove();
        }
        return ulpdu;
    }

    /** A Terminate, or a message of RFC 7306. */
    private byte[] rare(FuzzInput in) {
        int what = in.octet();
        if (what < 0x80) {
            return Ulpdus.untagged(untagged(true), 0x47, 0, 2, 1, 0, in.octets(what % 80));
        }
        return switch (what % 3) {
            case 0 -> atomicRequest(in);
            case 1 -> atomicResponse(in);
            default -> Ulpdus.untagged(untagged(true), 0x48 | what >> 2 & 1, 0, 0, nextMsn[0]++, 0, in.octets(8));
        };
    }

    private byte[] atomicRequest(FuzzInput in) {
        MemoryRegion region = regions.get(Kind.of(in.octet()));
        long to = region.baseTaggedOffset() + in.octet() * 8L;
        byte[] header = Ulpdus.atomicRequestHeader(
                in.below(4), in.octet(), region.stag(), to, in.longWord(), in.octet(), in.octet(), in.octet());
        return Ulpdus.atomicRequest(nextMsn[1]++, header);
    }

    /** The answer to the oldest atomic operation, or to none. */
    private byte[] atomicResponse(FuzzInput in) {
        Integer identifier = atomics.poll();
        return Ulpdus.atomicResponse(nextMsn[3]++, identifier == null ? in.octet() : identifier, in.octet());
    }

    private byte[] anyHeader(FuzzInput in, boolean tagged) {
        int control = in.octet() & 0x7F | (tagged ? 0x80 : 0);
        int ulpControl = in.octet();
        if (tagged) {
            return Ulpdus.tagged(control, ulpControl, in.word(), in.longWord(), payload(in));
        }
        int queue = in.octet();
        int qn = queue < 8 ? queue : in.word();
        int msn = in.yes() ? nextMsn[qn & 3] : in.word();
        return Ulpdus.untagged(control, ulpControl, in.word(), qn, msn, in.word(), payload(in));
    }

    private static byte[] payload(FuzzInput in) {
        return Arrays.copyOf(PATTERN, Math.min(in.length(), PATTERN_LENGTH - 32));
    }

    /** Makes one thing wrong, with everything else as it was. */
    private static byte[] mutate(FuzzInput in, byte[] ulpdu, int what) {
        if (what == 0) {
            return Arrays.copyOf(ulpdu, in.length() % (ulpdu.length + 1));
        }
        int index = what % Math.min(ulpdu.length, 46);
        ulpdu[index] ^= (byte) Math.max(1, in.octet());
        return ulpdu;
    }

    private static int tagged(boolean last) {
        return last ? 0xC1 : 0x81;
    }

    private static int untagged(boolean last) {
        return last ? 0x41 : 0x01;
    }
}
