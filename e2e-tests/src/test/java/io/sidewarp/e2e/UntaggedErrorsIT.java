// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.RegionOptions;
import io.sidewarp.client.Sge;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Inbox;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.wire.Octets;
import io.sidewarp.e2e.wire.Ulpdu;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends Sends that break a rule to a packaged sidecar. */
class UntaggedErrorsIT extends MisbehavingPeer {

    private static final int DDP_UNTAGGED = 0x12;
    private static final int RDMAP_PROTECTION = 0x01;
    private static final int RDMAP_OPERATION = 0x02;
    private static final byte[] PAYLOAD = Pattern.bytes(2, 100);
    private static final int RECEIVE_OCTETS = 100;

    @ParameterizedTest
    @ValueSource(ints = {3, 5, -1})
    @Requirement({"DDP-7.1-01", "RDMAP-3.1-02"})
    void aSendToAQueueThatDoesNotExistHasAnInvalidQueueNumber(int queue) throws Exception {
        assertTerminatedBy(untagged(Ulpdu.SEND, queue, 1), DDP_UNTAGGED, 0x01);
    }

    @Test
    @Requirement({"DDP-7.1-01", "RDMAP-7.2-02"})
    void aSendToTheQueueOfReadRequestsHasAnInvalidQueueNumber() throws Exception {
        assertTerminatedBy(untagged(Ulpdu.SEND, 1, 1), DDP_UNTAGGED, 0x01);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 1000, -1})
    @Requirement("DDP-7.1-05")
    void aSendOutOfSequenceHasAnInvalidMsn(int msn) throws Exception {
        assertTerminatedBy(Ulpdu.send(msn, PAYLOAD), DDP_UNTAGGED, 0x03);
    }

    @Test
    @Requirement({"DDP-5.3-04", "DDP-7.1-05"})
    void aSendThatIsRepeatedHasAnInvalidMsn() throws Exception {
        try (Inbox inbox = receives(2);
                RawStream stream = open(inbox.connection())) {
            byte[] twice = Ulpdu.send(1, PAYLOAD);
            stream.peer().send(twice, twice);
            assertThat(inbox.receive().length()).isEqualTo(PAYLOAD.length);
            stream.assertTerminated(Ulpdu.terminate(DDP_UNTAGGED, 0x03, twice));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100})
    @Requirement("DDP-7.1-02")
    void aSendWithoutAReceiveFindsNoBuffer(int octets) throws Exception {
        try (RawStream stream = open()) {
            byte[] bad = Ulpdu.send(1, Arrays.copyOf(PAYLOAD, octets));
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(DDP_UNTAGGED, 0x02, bad));
        }
    }

    @Test
    @Requirement("DDP-7.1-03")
    void aSegmentThatBeginsBeyondTheReceiveHasAnInvalidOffset() throws Exception {
        byte[] bad = Ulpdu.untagged(Ulpdu.UNTAGGED_LAST, Ulpdu.SEND, 0, 0, 1, 0xFFFFFFF0, PAYLOAD);
        assertTerminatedBy(bad, DDP_UNTAGGED, 0x04);
    }

    @Test
    @Requirement({"DDP-7.1-04", "RDMAP-5.3-02"})
    void aSendLongerThanTheReceiveIsTooLongAndWritesNothingBehindIt() throws Exception {
        byte[] guard = Pattern.bytes(3, REGION_OCTETS);
        region.store(0, guard);
        assertTerminatedBy(Ulpdu.send(1, Pattern.bytes(4, RECEIVE_OCTETS + 1)), DDP_UNTAGGED, 0x05);
        assertThat(region.load(0, REGION_OCTETS)).isEqualTo(guard);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3})
    @Requirement("DDP-4.1-06")
    void anUntaggedSegmentOfAnotherDdpVersionIsRefused(int version) throws Exception {
        byte[] bad = Ulpdu.untagged(0x40 | version, Ulpdu.SEND, 0, 0, 1, 0, PAYLOAD);
        assertTerminatedBy(bad, DDP_UNTAGGED, 0x06);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x03, 0x83, 0xC3})
    @Requirement({"RDMAP-7.2-03", "RDMAP-7.1-03"})
    void aSendOfAnotherRdmapVersionIsRefused(int control) throws Exception {
        assertTerminatedBy(untagged(control, 0, 1), RDMAP_OPERATION, 0x05);
    }

    @ParameterizedTest
    @ValueSource(ints = {Ulpdu.WRITE, Ulpdu.READ_RESPONSE, 0x4C, 0x4F})
    @Requirement("RDMAP-7.2-02")
    void anUntaggedSegmentWithAnOpcodeThatIsNotForItIsUnexpected(int control) throws Exception {
        assertTerminatedBy(untagged(control, 0, 1), RDMAP_OPERATION, 0x06);
    }

    @Test
    @Requirement("DDP-4.4-01")
    void aSegmentShorterThanItsHeaderIsFatal() throws Exception {
        try (Inbox inbox = receives(1);
                RawStream stream = open(inbox.connection())) {
            stream.peer().send(Arrays.copyOf(Ulpdu.send(1, NOTHING), Ulpdu.UNTAGGED_HEADER - 1));
            stream.assertTerminated(Ulpdu.terminate(0x10, 0x00));
        }
    }

    @Test
    @Requirement({"DDP-4.1-05", "RDMAP-4.1-03", "RDMAP-4.1-08"})
    void reservedFieldsOfASendAreIgnored() throws Exception {
        try (Inbox inbox = receives(1);
                RawStream stream = open(inbox.connection())) {
            stream.peer().send(Ulpdu.untagged(0x7D, 0x73, region.stag(), 0, 1, 0, PAYLOAD));
            WorkCompletion received = inbox.receive();
            assertThat(received.length()).isEqualTo(PAYLOAD.length);
            assertThat(received.invalidatedStag()).isEmpty();
            assertThat(region.load(0, PAYLOAD.length)).isEqualTo(PAYLOAD);
        }
    }

    @Test
    @Requirement({"RDMAP-5.3-07", "RDMAP-7.2-04"})
    void anUnknownStagCannotBeInvalidated() throws Exception {
        assertTerminatedBy(invalidate(region.stag() ^ 0x5A5A5A5A), RDMAP_OPERATION, 0x09);
    }

    @Test
    @Requirement({"RDMAP-8.1.1-07", "RDMAP-7.2-04", "RDMAP-4.8-08"})
    void aStagThatStreamsShareCannotBeInvalidatedByAPeer() throws Exception {
        assertTerminatedBy(invalidate(region.stag()), RDMAP_PROTECTION, 0x09);
        try (Inbox inbox = receives(1);
                RawStream other = open(inbox.connection())) {
            other.peer().send(Ulpdu.write(region.stag(), BASE, PAYLOAD), Ulpdu.send(1, NOTHING));
            inbox.receive();
            assertThat(region.load(0, PAYLOAD.length)).isEqualTo(PAYLOAD);
        }
    }

    @Test
    @Requirement("RDMAP-5.3-06")
    void aStagThatItsPeerInvalidatedIsInvalid() throws Exception {
        try (Inbox inbox = receives(1);
                RawStream stream = open(inbox.connection())) {
            ManagedRegion bound = session.registerManaged(
                    4096,
                    RegionOptions.of(Access.REMOTE_WRITE, Access.REMOTE_INVALIDATE)
                            .withConnection(stream.connection()));
            stream.peer().send(Ulpdu.write(bound.stag(), 0, PAYLOAD), invalidate(bound.stag()));
            assertThat(inbox.receive().invalidatedStag()).hasValue(bound.stag());
            byte[] late = Ulpdu.write(bound.stag(), 0, PAYLOAD);
            stream.peer().send(late);
            stream.assertTerminated(Ulpdu.terminate(0x11, 0x00, late));
            bound.close();
        }
    }

    @Test
    @Requirement({"RDMAP-5.4-01", "RDMAP-5.4-02", "RDMAP-4.8-02"})
    void aTerminateOfThePeerReachesTheApplication() throws Exception {
        try (RawStream stream = open()) {
            byte[] message = Octets.begin().hex("11 01 1F FF").toArray();
            stream.peer().send(Ulpdu.untagged(Ulpdu.UNTAGGED_LAST, Ulpdu.TERMINATE, 0, 2, 1, 0, message));
            assertThat(awaitError(stream.connection())).satisfies(error -> {
                assertThat(error.layer()).isEqualTo(1);
                assertThat(error.type()).isEqualTo(1);
                assertThat(error.code()).isEqualTo(1);
                assertThat(error.remote()).isTrue();
            });
            assertThat(stream.peer().receiveRest()).isEmpty();
        }
    }

    private static void assertTerminatedBy(byte[] bad, int layerAndType, int code) throws Exception {
        try (Inbox inbox = receives(1);
                RawStream stream = open(inbox.connection())) {
            stream.peer().send(bad);
            stream.assertTerminated(Ulpdu.terminate(layerAndType, code, bad));
        }
    }

    private static byte[] untagged(int control, int queue, int msn) {
        return Ulpdu.untagged(Ulpdu.UNTAGGED_LAST, control, 0, queue, msn, 0, PAYLOAD);
    }

    private static byte[] invalidate(int stag) {
        return Ulpdu.untagged(Ulpdu.UNTAGGED_LAST, Ulpdu.SEND_INVALIDATE, stag, 0, 1, 0, PAYLOAD);
    }

    /** Receives of {@value #RECEIVE_OCTETS} octets each, one behind the other in the region. */
    private static Inbox receives(int count) {
        Sge[] receives = new Sge[count];
        for (int i = 0; i < count; i++) {
            receives[i] = region.slice((long) i * RECEIVE_OCTETS, RECEIVE_OCTETS);
        }
        return Inbox.of(session, receives);
    }
}
