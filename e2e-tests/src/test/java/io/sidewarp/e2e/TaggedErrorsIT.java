// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.ProtectionDomain;
import io.sidewarp.client.RegionOptions;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.wire.Ulpdu;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends RDMA Writes that break a rule to a packaged sidecar. */
class TaggedErrorsIT extends MisbehavingPeer {

    private static final int DDP_TAGGED = 0x11;
    private static final int RDMAP_OPERATION = 0x02;
    private static final long MORE_THAN_BUFFERS_HOLD = 32L << 20;
    private static final byte[] PAYLOAD = Pattern.bytes(1, 100);

    @Test
    @Requirement({
        "DDP-7.1-06",
        "RDMAP-4.8-01",
        "RDMAP-4.8-03",
        "RDMAP-4.8-07",
        "RDMAP-4.8-09",
        "RDMAP-4.8-10",
        "DDP-3-10"
    })
    void aWriteToAnUnknownStagIsAnInvalidStag() throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.write(region.stag() ^ 0x5A5A5A5A, BASE, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x00, bad));
        }
    }

    /** A reset, in answer to octets that nobody takes, would cost the peer the Terminate. */
    @Test
    @Requirement({"RDMAP-6.2.1-04", "RDMAP-6.2.1-01"})
    void aPeerThatGoesOnWritingGetsTheTerminateAndAnOrderlyClose() throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.write(region.stag() ^ 0x5A5A5A5A, BASE, PAYLOAD);
            byte[] more = Ulpdu.write(region.stag(), BASE, new byte[REGION_OCTETS]);
            stream.peer().send(bad);
            for (long sent = 0; sent < MORE_THAN_BUFFERS_HOLD; sent += more.length) {
                stream.peer().send(more);
            }
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x00, bad));
        }
    }

    @Test
    @Requirement({"DDP-7.1-06", "RDMAP-8.1.1-04"})
    void aWriteToADeregisteredRegionIsAnInvalidStag() throws Exception {
        ManagedRegion gone = session.registerManaged(4096, Access.REMOTE_WRITE);
        try (RawStream stream = open()) {
            stream.peer().send(Ulpdu.write(gone.stag(), 0, PAYLOAD));
            gone.close();
            byte[] bad = Ulpdu.write(gone.stag(), 0, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x00, bad));
        }
    }

    @Test
    @Requirement({"DDP-7.1-06", "RDMAP-8.1.1-05"})
    void aWriteWithoutTheRightIsAnInvalidStag() throws Exception {
        try (ManagedRegion readable = session.registerManaged(4096, Access.REMOTE_READ, Access.LOCAL_WRITE);
                RawStream stream = open()) {
            byte[] bad = Ulpdu.write(readable.stag(), 0, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x00, bad));
            assertThat(readable.load(0, 100)).containsOnly(0);
        }
    }

    @Test
    @Requirement({"DDP-8.2-01", "RDMAP-8.1.1-01"})
    void aWriteToARegionOfAnotherProtectionDomainIsNotAssociated() throws Exception {
        try (ProtectionDomain other = session.allocateProtectionDomain();
                ManagedRegion foreign = session.registerManaged(
                        4096, RegionOptions.of(Access.REMOTE_WRITE).withProtectionDomain(other));
                RawStream stream = open()) {
            byte[] bad = Ulpdu.write(foreign.stag(), 0, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x02, bad));
            assertThat(foreign.load(0, 100)).containsOnly(0);
        }
    }

    @Test
    @Requirement({"DDP-8.2-01", "RDMAP-8.1.1-02"})
    void aWriteToARegionOfAnotherStreamIsNotAssociated() throws Exception {
        try (RawStream owner = open();
                RawStream stream = open()) {
            ManagedRegion bound = session.registerManaged(
                    4096, RegionOptions.of(Access.REMOTE_WRITE).withConnection(owner.connection()));
            byte[] bad = Ulpdu.write(bound.stag(), 0, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x02, bad));
            assertThat(bound.load(0, 100)).containsOnly(0);
            bound.close();
        }
    }

    @Test
    @Requirement({"DDP-7.1-07", "RDMAP-8.1.1-03"})
    void aWriteOneOctetBelowTheRegionViolatesItsBounds() throws Exception {
        assertTerminatedByWrite(BASE - 1, PAYLOAD, 0x01);
    }

    @Test
    @Requirement({"DDP-7.1-07", "RDMAP-8.1.1-03"})
    void aWriteOneOctetBeyondTheRegionViolatesItsBounds() throws Exception {
        assertTerminatedByWrite(BASE + REGION_OCTETS - PAYLOAD.length + 1, PAYLOAD, 0x01);
    }

    @Test
    @Requirement("DDP-7.1-08")
    void aWriteThatWrapsTheTaggedOffsetIsAWrap() throws Exception {
        assertTerminatedByWrite(-8L, PAYLOAD, 0x03);
    }

    private static void assertTerminatedByWrite(long taggedOffset, byte[] payload, int code) throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.write(region.stag(), taggedOffset, payload);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, code, bad));
        }
    }

    @Test
    @Requirement({"DDP-7.1-07", "RDMAP-5.1-02"})
    void aWriteThatFitsExactlyIsPlaced() throws Exception {
        try (RawStream stream = open()) {
            byte[] all = Pattern.bytes(7, REGION_OCTETS);
            stream.peer().send(Ulpdu.write(region.stag(), BASE, all));
            awaitAnsweredRead(stream, 1);
            assertThat(region.load(0, REGION_OCTETS)).isEqualTo(all);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3})
    @Requirement("DDP-4.1-06")
    void aTaggedSegmentOfAnotherDdpVersionIsRefused(int version) throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.tagged(0xC0 | version, Ulpdu.WRITE, region.stag(), BASE, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x04, bad));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x00, 0x80, 0xC0})
    @Requirement("RDMAP-7.2-03")
    void aWriteOfAnotherRdmapVersionIsRefused(int version) throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.tagged(Ulpdu.TAGGED_LAST, version, region.stag(), BASE, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(RDMAP_OPERATION, 0x05, bad));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Ulpdu.SEND, Ulpdu.READ_REQUEST, Ulpdu.TERMINATE, 0x48, 0x4F})
    @Requirement("RDMAP-7.2-02")
    void aTaggedSegmentWithAnOpcodeThatIsNotForItIsUnexpected(int control) throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.tagged(Ulpdu.TAGGED_LAST, control, region.stag(), BASE, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(RDMAP_OPERATION, 0x06, bad));
        }
    }

    @Test
    @Requirement("RDMAP-5.2.2-03")
    void aReadResponseThatNobodyAskedForIsUnexpected() throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.tagged(Ulpdu.TAGGED_LAST, Ulpdu.READ_RESPONSE, region.stag(), BASE, PAYLOAD);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(RDMAP_OPERATION, 0x06, bad));
        }
    }

    @Test
    @Requirement("DDP-4.4-01")
    void aSegmentShorterThanItsHeaderIsFatal() throws Exception {
        try (RawStream stream = open()) {
            byte[] whole = Ulpdu.write(region.stag(), BASE, NOTHING);
            stream.peer().send(Arrays.copyOf(whole, Ulpdu.TAGGED_HEADER - 1));
            stream.assertTerminated(Ulpdu.terminate(0x10, 0x00));
        }
    }

    @Test
    @Requirement({"DDP-5.2-08", "RDMAP-5.1-04"})
    void aWriteOfNothingMayNameAnyStag() throws Exception {
        try (RawStream stream = open()) {
            stream.peer().send(Ulpdu.write(-1, -1, NOTHING));
            awaitAnsweredRead(stream, 1);
        }
    }

    @Test
    @Requirement({"DDP-4.1-05", "RDMAP-4.1-03"})
    void reservedBitsOfAWriteAreIgnored() throws Exception {
        try (RawStream stream = open()) {
            region.store(0, new byte[PAYLOAD.length]);
            stream.peer().send(Ulpdu.tagged(0xFD, 0x70, region.stag(), BASE, PAYLOAD));
            awaitAnsweredRead(stream, 1);
            assertThat(region.load(0, PAYLOAD.length)).isEqualTo(PAYLOAD);
        }
    }

    @Test
    @Requirement({"DDP-7.1-12", "RDMAP-7.1-05", "RDMAP-5.4-04"})
    void whatFollowsTheFirstErrorIsDroppedAndTheTerminateTellsOfTheFirst() throws Exception {
        try (RawStream stream = open()) {
            region.store(0, new byte[REGION_OCTETS]);
            byte[] first = Ulpdu.write(region.stag(), BASE - 7, PAYLOAD);
            stream.peer()
                    .send(
                            first,
                            Ulpdu.write(region.stag(), BASE, PAYLOAD),
                            Ulpdu.tagged(0xC3, Ulpdu.WRITE, region.stag(), BASE, PAYLOAD),
                            Ulpdu.write(region.stag() + 1, BASE, PAYLOAD));
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x01, first));
            assertThat(region.load(0, REGION_OCTETS)).containsOnly(0);
        }
    }

    @Test
    @Requirement({"RDMAP-7.1-05", "DDP-8.3.1-01"})
    void aLaterSegmentOfAWriteIsCheckedAsTheFirst() throws Exception {
        try (RawStream stream = open(ConnectionOptions.defaults())) {
            region.store(0, new byte[REGION_OCTETS]);
            long end = BASE + REGION_OCTETS;
            byte[] good = Ulpdu.tagged(Ulpdu.TAGGED, Ulpdu.WRITE, region.stag(), end - PAYLOAD.length, PAYLOAD);
            byte[] bad = Ulpdu.write(region.stag(), end, PAYLOAD);
            stream.peer().send(good, bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_TAGGED, 0x01, bad));
            assertThat(region.load(REGION_OCTETS - PAYLOAD.length, PAYLOAD.length))
                    .isEqualTo(PAYLOAD);
        }
    }

    /** Waits for the answer to a Read Request, which proves that all earlier data is placed. */
    private static void awaitAnsweredRead(RawStream stream, int msn) throws Exception {
        stream.peer().send(Ulpdu.readRequest(msn, 0x1234, 0, 0, 0, 0));
        byte[] response = stream.peer().receive().orElseThrow();
        assertThat(Ulpdu.opcode(response)).isEqualTo(Ulpdu.READ_RESPONSE & 0x0F);
    }
}
