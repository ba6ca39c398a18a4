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
import io.sidewarp.e2e.wire.MpaFrame;
import io.sidewarp.e2e.wire.Octets;
import io.sidewarp.e2e.wire.RawPeer;
import io.sidewarp.e2e.wire.Ulpdu;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Sends RDMA Read Requests that break a rule to a packaged sidecar. */
class ReadRequestErrorsIT extends MisbehavingPeer {

    private static final int RDMAP_PROTECTION = 0x01;
    private static final int RDMAP_OPERATION = 0x02;
    private static final int DDP_UNTAGGED = 0x12;

    /** The peer's own buffer, which is of no interest to the sidecar. */
    private static final int SINK_STAG = -1;

    private static final long SINK_TO = 0x1_2345_6789L;

    @Test
    @Requirement({"RDMAP-7.2-05", "RDMAP-7.1-04", "RDMAP-5.2.1-07", "RDMAP-4.8-08"})
    void aReadFromAnUnknownStagIsAnInvalidStag() throws Exception {
        assertTerminatedByRead(region.stag() ^ 0x5A5A5A5A, BASE, 100, 0x00);
    }

    @Test
    @Requirement({"RDMAP-7.2-07", "RDMAP-8.1.1-03"})
    void aReadThatBeginsBelowTheRegionViolatesItsBounds() throws Exception {
        assertTerminatedByRead(region.stag(), BASE - 1, 100, 0x01);
    }

    @Test
    @Requirement({"RDMAP-7.2-07", "RDMAP-8.1.1-03"})
    void aReadThatEndsBeyondTheRegionViolatesItsBounds() throws Exception {
        assertTerminatedByRead(region.stag(), BASE, REGION_OCTETS + 1, 0x01);
    }

    @Test
    @Requirement({"RDMAP-7.2-05", "RDMAP-8.1.1-05"})
    void aReadWithoutTheRightViolatesTheAccessRights() throws Exception {
        try (ManagedRegion writable = session.registerManaged(4096, Access.REMOTE_WRITE)) {
            assertTerminatedByRead(writable.stag(), 0, 100, 0x02);
        }
    }

    @Test
    @Requirement({"RDMAP-7.2-06", "RDMAP-8.1.1-01"})
    void aReadFromAnotherProtectionDomainIsNotAssociated() throws Exception {
        try (ProtectionDomain other = session.allocateProtectionDomain();
                ManagedRegion foreign = session.registerManaged(
                        4096, RegionOptions.of(Access.REMOTE_READ).withProtectionDomain(other))) {
            assertTerminatedByRead(foreign.stag(), 0, 100, 0x03);
        }
    }

    @Test
    @Requirement("RDMAP-7.2-08")
    void aReadThatWrapsTheTaggedOffsetIsAWrap() throws Exception {
        assertTerminatedByRead(region.stag(), -16L, 32, 0x04);
    }

    private static void assertTerminatedByRead(int stag, long taggedOffset, int size, int code) throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.readRequest(1, SINK_STAG, SINK_TO, size, stag, taggedOffset);
            stream.peer().send(bad);
            // No response may come before the Terminate.
            assertThat(Octets.text(stream.peer().receive().orElseThrow()))
                    .isEqualTo(Octets.text(Ulpdu.terminateRead(RDMAP_PROTECTION, code, bad)));
            assertThat(stream.peer().receiveRest()).isEmpty();
            assertThat(awaitError(stream.connection()).code()).isEqualTo(code);
        }
    }

    @Test
    @Requirement("RDMAP-4.2-02")
    void aReadRequestWithDataBehindItsHeaderIsTooLong() throws Exception {
        byte[] header = Ulpdu.readRequestHeader(SINK_STAG, SINK_TO, 100, region.stag(), BASE);
        byte[] bad = Ulpdu.readRequest(1, Arrays.copyOf(header, 32));
        assertTerminatedBy(bad, DDP_UNTAGGED, 0x05);
    }

    @Test
    @Requirement("RDMAP-4.2-02")
    void aReadRequestThatIsCutShortIsAnUnspecifiedError() throws Exception {
        byte[] header = Ulpdu.readRequestHeader(SINK_STAG, SINK_TO, 100, region.stag(), BASE);
        assertTerminatedBy(Ulpdu.readRequest(1, Arrays.copyOf(header, 27)), RDMAP_OPERATION, 0xFF);
    }

    @Test
    @Requirement("DDP-7.1-05")
    void aReadRequestOutOfSequenceHasAnInvalidMsn() throws Exception {
        byte[] bad = Ulpdu.readRequest(2, SINK_STAG, SINK_TO, 100, region.stag(), BASE);
        assertTerminatedBy(bad, DDP_UNTAGGED, 0x03);
    }

    private static void assertTerminatedBy(byte[] bad, int layerAndType, int code) throws Exception {
        try (RawStream stream = open()) {
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(layerAndType, code, bad));
        }
    }

    @Test
    @Requirement("RDMAP-6.1-04")
    void oneReadRequestMoreThanAgreedIsRefused() throws Exception {
        int octets = 32 << 20;
        try (ManagedRegion large = session.registerManaged(octets, Access.REMOTE_READ);
                RawStream stream = open(
                        RawPeer.connectWithSmallWindow(port),
                        MpaFrame.CRC,
                        ConnectionOptions.builder().ird(1).build())) {
            stream.peer().send(Ulpdu.readRequest(1, SINK_STAG, SINK_TO, octets, large.stag(), 0));
            // The response has begun, and cannot end before the test takes it.
            assertThat(Ulpdu.opcode(stream.peer().receive().orElseThrow())).isEqualTo(Ulpdu.READ_RESPONSE & 0x0F);
            byte[] bad = Ulpdu.readRequest(2, SINK_STAG, SINK_TO, 1, large.stag(), 0);
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(RDMAP_OPERATION, 0x07, bad));
        }
    }

    @Test
    @Requirement({"RDMAP-5.2.1-08", "RDMAP-5.2.1-09"})
    void aReadOfNothingMayNameAnySource() throws Exception {
        try (RawStream stream = open()) {
            stream.peer().send(Ulpdu.readRequest(1, SINK_STAG, SINK_TO, 0, -1, -1));
            assertThat(Octets.text(stream.peer().receive().orElseThrow()))
                    .isEqualTo("C1 42 FF FF FF FF 00 00 00 01 23 45 67 89");
        }
    }

    @Test
    @Requirement({"RDMAP-4.4-02", "RDMAP-4.4-03", "RDMAP-5.2.1-05"})
    void aReadReturnsTheOctetsToTheSinkThatWasNamed() throws Exception {
        byte[] content = Pattern.bytes(5, REGION_OCTETS);
        region.store(0, content);
        try (RawStream stream = open()) {
            stream.peer().send(Ulpdu.readRequest(1, SINK_STAG, SINK_TO, 7, region.stag(), BASE + 3));
            byte[] expected = Ulpdu.tagged(
                    Ulpdu.TAGGED_LAST, Ulpdu.READ_RESPONSE, SINK_STAG, SINK_TO, Arrays.copyOfRange(content, 3, 10));
            assertThat(Octets.text(stream.peer().receive().orElseThrow())).isEqualTo(Octets.text(expected));
        }
    }
}
