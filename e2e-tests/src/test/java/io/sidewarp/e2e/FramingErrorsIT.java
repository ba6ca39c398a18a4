// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.RdmaErrorInfo;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.wire.MpaFrame;
import io.sidewarp.e2e.wire.Octets;
import io.sidewarp.e2e.wire.RawPeer;
import io.sidewarp.e2e.wire.Ulpdu;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sends FPDUs that break a rule, and byte streams in odd portions, to a packaged sidecar. */
class FramingErrorsIT extends MisbehavingPeer {

    private static final int LLP = 0x20;
    private static final byte[] PAYLOAD = Pattern.bytes(6, 1000);

    @Test
    @Requirement({"MPA-8-02", "MPA-8-07", "MPA-8-08", "MPA-4.4-10", "MPA-6-01", "RDMAP-4.8-03", "DDP-3-06"})
    void aWrongCrcIsReportedAndNothingIsPlaced() throws Exception {
        region.store(0, new byte[REGION_OCTETS]);
        try (RawStream stream = open()) {
            permitTerminate(stream);
            byte[] wrong = stream.peer().encoder().encodeWithWrongCrc(Ulpdu.write(region.stag(), BASE, PAYLOAD));
            byte[] right = stream.peer().encoder().encode(Ulpdu.write(region.stag(), BASE, PAYLOAD));
            stream.peer().sendOctets(Octets.begin().put(wrong).put(right).toArray());
            stream.assertTerminated(Ulpdu.terminate(LLP, 0x02));
        }
        assertThat(region.load(0, REGION_OCTETS)).containsOnly(0);
    }

    @Test
    @Requirement({"MPA-8-03", "MPA-8-08"})
    void aMarkerThatPointsElsewhereIsReported() throws Exception {
        try (RawStream stream = open(withMarkers())) {
            permitTerminate(stream);
            byte[] wrong = stream.peer().encoder().encodeWithWrongMarkers(Ulpdu.write(region.stag(), BASE, PAYLOAD), 4);
            stream.peer().sendOctets(wrong);
            stream.assertTerminated(Ulpdu.terminate(LLP, 0x03));
        }
    }

    @Test
    @Requirement({"MPA-8-01", "DDP-6.2.2-01"})
    void anEndInsideOfAnFpduIsALostConnection() throws Exception {
        try (RawStream stream = open()) {
            byte[] fpdu = stream.peer().encoder().encode(Ulpdu.write(region.stag(), BASE, PAYLOAD));
            byte[] valid = stream.peer().encoder().encode(Ulpdu.write(region.stag(), BASE, PAYLOAD));
            stream.peer()
                    .sendOctets(Octets.begin()
                            .put(valid)
                            .put(Arrays.copyOf(fpdu, 500))
                            .toArray());
            stream.peer().closeOutput();
            stream.assertTerminated(Ulpdu.terminate(LLP, 0x01));
        }
    }

    @Test
    @Requirement({"MPA-8-01", "RDMAP-6.2.1-05", "DDP-6.2.2-02"})
    void aResetEndsAllOutstandingWorkInError() throws Exception {
        RawStream stream = open();
        List<CompletableFuture<WorkCompletion>> receives = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            receives.add(stream.connection().receiveAsync(new Sge(region.id(), i * 100L, 100)));
        }
        stream.peer().send(Ulpdu.readRequest(1, 0, 0, 0, 0, 0));
        assertThat(stream.peer().receive()).isPresent();
        stream.peer().reset();
        RdmaErrorInfo error = awaitError(stream.connection());
        assertThat(error.layer()).isEqualTo(2);
        assertThat(error.code()).isEqualTo(1);
        for (CompletableFuture<WorkCompletion> receive : receives) {
            assertThat(receive)
                    .failsWithin(Patience.LIMIT)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(SidewarpException.class);
        }
        stream.close();
    }

    @Test
    @Requirement("DDP-4.4-01")
    void anFpduWithoutAnythingInItIsFatal() throws Exception {
        try (RawStream stream = open()) {
            stream.peer().send(NOTHING);
            stream.assertTerminated(Ulpdu.terminate(0x10, 0x00));
        }
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    @Requirement({"MPA-4.4-02", "MPA-7.1.1-05"})
    void aWrongCrcIsReportedUnlessBothSidesRenounced(boolean peerWants, boolean sidecarWants) throws Exception {
        try (RawStream stream = open(
                RawPeer.connect(port),
                peerWants ? MpaFrame.CRC : 0,
                ConnectionOptions.builder().crc(sidecarWants).build())) {
            permitTerminate(stream);
            stream.peer()
                    .sendOctets(stream.peer().encoder().encodeWithWrongCrc(Ulpdu.write(region.stag(), BASE, PAYLOAD)));
            stream.assertTerminated(Ulpdu.terminate(LLP, 0x02));
        }
    }

    @Test
    @Requirement({"MPA-4.4-02", "MPA-4.4-06", "MPA-4.1-03"})
    void aWrongCrcIsIgnoredWhenBothSidesRenounced() throws Exception {
        region.store(0, new byte[REGION_OCTETS]);
        try (RawStream stream = open(
                RawPeer.connect(port), 0, ConnectionOptions.builder().crc(false).build())) {
            stream.peer()
                    .sendOctets(stream.peer().encoder().encodeWithWrongCrc(Ulpdu.write(region.stag(), BASE, PAYLOAD)));
            awaitAnswer(stream);
            assertThat(region.load(0, PAYLOAD.length)).isEqualTo(PAYLOAD);
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    @Requirement({"MPA-5.1-02", "DDP-3-04", "MPA-C.3-01", "MPA-7.1.1-04", "MPA-7.1.2-10"})
    void octetsThatComeOneByOneAreTheSameAsAnyOther(boolean peerWantsMarkers, boolean sidecarWantsMarkers)
            throws Exception {
        region.store(0, new byte[REGION_OCTETS]);
        int flags = MpaFrame.CRC | (peerWantsMarkers ? MpaFrame.MARKERS : 0);
        ConnectionOptions options =
                ConnectionOptions.builder().receiveMarkers(sidecarWantsMarkers).build();
        try (RawStream stream = open(RawPeer.connect(port), flags, options)) {
            for (byte octet : stream.peer().encoder().encode(Ulpdu.write(region.stag(), BASE, PAYLOAD))) {
                stream.peer().sendOctets(new byte[] {octet});
            }
            // The sidecar's own octets, with Markers where the peer wants them, are checked as they are taken apart.
            stream.peer().send(Ulpdu.readRequest(1, 0, 0, PAYLOAD.length, region.stag(), BASE));
            assertThat(Ulpdu.payload(stream.peer().receive().orElseThrow())).isEqualTo(PAYLOAD);
        }
    }

    @Test
    @Requirement({"MPA-7.1.2-09", "MPA-8-02"})
    void aWrongCrcOfTheVeryFirstFpduClosesWithoutATerminate() throws Exception {
        try (RawStream stream = open()) {
            stream.peer()
                    .sendOctets(stream.peer().encoder().encodeWithWrongCrc(Ulpdu.write(region.stag(), BASE, PAYLOAD)));
            assertThat(stream.peer().receiveRest()).isEmpty();
            RdmaErrorInfo error = awaitError(stream.connection());
            assertThat(error.layer()).isEqualTo(2);
            assertThat(error.code()).isEqualTo(2);
        }
    }

    /** The side that accepted may send nothing, a Terminate included, before it got a valid FPDU (MPA-7.1.2-09). */
    private static void permitTerminate(RawStream stream) throws Exception {
        stream.peer().send(Ulpdu.write(0, 0, NOTHING));
    }

    private static ConnectionOptions withMarkers() {
        return ConnectionOptions.builder().receiveMarkers(true).build();
    }

    private static void awaitAnswer(RawStream stream) throws Exception {
        stream.peer().send(Ulpdu.readRequest(1, 0, 0, 0, 0, 0));
        assertThat(stream.peer().receive()).isPresent();
    }
}
