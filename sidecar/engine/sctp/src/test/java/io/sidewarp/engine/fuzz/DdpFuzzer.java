// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.ddp.DdpReceiver;
import io.sidewarp.engine.fuzz.GuardedRegions.Kind;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.RecordingDdpUser;
import io.sidewarp.engine.testing.Segment;
import java.math.BigInteger;
import java.util.Arrays;

/**
 * Fuzzes the decoder of DDP headers under a ULP that admits everything. A segment must be placed if and only if the
 * rules of RFC 5041 section 7.1 permit it. This class implements these rules a second time.
 */
final class DdpFuzzer {

    private static final GuardedRegions REGIONS = new GuardedRegions();
    private static final WireBuffer INPUT = WireBuffer.allocate(1 << 17);
    private static final int OFFSET = 3;
    private static final int QUEUES = 3;
    private static final int BUFFERS = 4;
    private static final int BUFFER = 512;
    private static final int TAGGED_HEADER = 14;
    private static final int UNTAGGED_HEADER = 18;

    private final FuzzInput in;
    private final RecordingDdpUser user = new RecordingDdpUser(QUEUES);
    private final PeerTraffic peer = new PeerTraffic(REGIONS);
    private final DdpReceiver receiver = new DdpReceiver(
            user,
            REGIONS.memory().stags(),
            new RegionUser(REGIONS.memory().protectionDomain(), GuardedRegions.QUEUE_PAIR),
            QUEUES);
    private final int[] delivered = new int[QUEUES];
    private boolean failed;

    private DdpFuzzer(FuzzInput in) {
        this.in = in;
    }

    static void run(byte[] data) {
        REGIONS.reset();
        DdpFuzzer fuzzer = new DdpFuzzer(new FuzzInput(data));
        for (int queue = 0; queue < QUEUES; queue++) {
            for (int i = 0; i < BUFFERS; i++) {
                fuzzer.user.post(queue, BUFFER);
            }
        }
        while (!fuzzer.in.isEmpty()) {
            fuzzer.step();
        }
    }

    private void step() {
        int kind = in.octet();
        if (kind < 8) {
            REGIONS.invalidate(Kind.of(kind));
            return;
        }
        byte[] segment = kind < 32 ? in.octets(in.length()) : peer.next(in);
        boolean permitted = !failed && isPermitted(segment);
        INPUT.putBytes(OFFSET, segment, 0, segment.length);
        REGIONS.before();
        receiver.onSegment(INPUT, OFFSET, segment.length);
        REGIONS.after(permitted, octet -> false);
        boolean refused = !user.refusals().isEmpty();
        Violation.unless(refused == (failed || !permitted), "another judgement: " + Octets.show(segment));
        Violation.unless(user.refusals().size() <= 1, "a second error");
        Violation.unless(
                failed || !refused || Arrays.equals(user.refusals().getFirst().segment(), segment),
                "the error names another segment");
        failed = refused;
        if (permitted) {
            verifyPlaced(new Segment(segment));
        }
    }

    private boolean isPermitted(byte[] octets) {
        boolean tagged = octets.length > 0 && (octets[0] & 0x80) != 0;
        if (octets.length < (tagged ? TAGGED_HEADER : UNTAGGED_HEADER) || (octets[0] & 3) != 1) {
            return false;
        }
        Segment segment = new Segment(octets);
        return tagged ? isTaggedPermitted(segment) : isUntaggedPermitted(segment);
    }

    private static boolean isTaggedPermitted(Segment segment) {
        int length = segment.payload().length;
        if (length == 0) {
            return true;
        }
        for (Kind kind : Kind.values()) {
            MemoryRegion region = REGIONS.get(kind);
            if (region.stag() == segment.stag()) {
                BigInteger from = unsigned(segment.to());
                BigInteger base = unsigned(region.baseTaggedOffset());
                BigInteger end = base.add(BigInteger.valueOf(GuardedRegions.LENGTH));
                return region.isValid()
                        && kind.isWritableByPeer()
                        && from.compareTo(base) >= 0
                        && from.add(BigInteger.valueOf(length)).compareTo(end) <= 0;
            }
        }
        return false;
    }

    private boolean isUntaggedPermitted(Segment segment) {
        int queue = segment.qn();
        return Integer.compareUnsigned(queue, QUEUES) < 0
                && segment.msn() == delivered[queue] + 1
                && delivered[queue] < BUFFERS
                && segment.mo() + segment.payload().length <= BUFFER;
    }

    private void verifyPlaced(Segment segment) {
        if (segment.tagged()) {
            Violation.unless(user.tagged().getLast().to() == segment.to(), "another tagged offset was told");
        } else if (segment.last()) {
            delivered[segment.qn()]++;
            RecordingDdpUser.Delivery message = user.untagged().getLast();
            long length = segment.mo() + segment.payload().length;
            Violation.unless(message.length() == length && message.qn() == segment.qn(), "another message was told");
        }
    }

    private static BigInteger unsigned(long value) {
        return new BigInteger(Long.toUnsignedString(value));
    }
}
