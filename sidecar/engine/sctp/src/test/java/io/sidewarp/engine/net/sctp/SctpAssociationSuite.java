// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.AssociationPath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests associations of two endpoints over loopback, over any carrier. */
abstract class SctpAssociationSuite {

    private static final int DDP_SEGMENT = 16;

    private SctpBed bed;
    private SctpEndpoint active;
    private SctpEndpoint passive;

    abstract SctpStack stack();

    /** Octets of an SCTP packet on the loopback interface. */
    abstract int pathMtu();

    @BeforeEach
    void open() throws Exception {
        bed = new SctpBed(stack());
        active = bed.open(SctpBed.DDP, SctpBed.settings());
        passive = bed.open(SctpBed.DDP, SctpBed.settings());
    }

    @AfterEach
    void close() throws Exception {
        bed.close();
    }

    private RecordingUser connect() throws Exception {
        return bed.connect(active, bed.listen(passive).port(), passive.udpPort());
    }

    private static byte[] random(Random random, int length) {
        byte[] octets = new byte[length];
        random.nextBytes(octets);
        return octets;
    }

    @Test
    void bothSidesLearnStreamsAndAdaptationIndication() throws Exception {
        RecordingUser client = connect();
        RecordingUser server = bed.takeAccepted();

        assertThat(client.established.get(10, TimeUnit.SECONDS)).hasValue(1);
        assertThat(server.established.get(10, TimeUnit.SECONDS)).hasValue(1);
        assertThat(List.of(
                        client.inboundStreams, client.outboundStreams, server.inboundStreams, server.outboundStreams))
                .containsOnly(1024);
        assertThat(server.association.remoteAddress()).isEqualTo(client.association.localAddress());
        assertThat(client.association.remoteAddress()).isEqualTo(server.association.localAddress());
        assertThat(server.association.remoteUdpPort()).isEqualTo(active.udpPort());
    }

    @Test
    @Requirement("SCTP-7.1-01")
    void anAbsentOrForeignAdaptationIndicationIsReportedAsItIs() throws Exception {
        SctpListener listener = bed.listen(passive);
        bed.connect(bed.open(OptionalInt.empty(), SctpBed.settings()), listener.port(), passive.udpPort());
        assertThat(bed.takeAccepted().established.get(10, TimeUnit.SECONDS)).isEmpty();

        bed.connect(bed.open(OptionalInt.of(2), SctpBed.settings()), listener.port(), passive.udpPort());
        assertThat(bed.takeAccepted().established.get(10, TimeUnit.SECONDS)).hasValue(2);
    }

    @Test
    void messagesOfAllSizesArriveOnTheirStreams() throws Exception {
        RecordingUser client = connect();
        RecordingUser server = bed.takeAccepted();
        int max = client.association.maxMessage();
        Random random = new Random(5043);
        Map<Integer, List<byte[]>> expected = new HashMap<>();
        for (int i = 0; i < 300; i++) {
            int stream = random.nextInt(1024);
            int length = i < 20 ? i + 1 : i == 20 ? max : 1 + random.nextInt(max);
            byte[] octets = random(random, length);
            expected.computeIfAbsent(stream, ignored -> new ArrayList<>()).add(octets);
            client.send(stream, DDP_SEGMENT, octets);
        }
        for (int i = 0; i < 300; i++) {
            RecordingUser.Message message = server.takeMessage();
            assertThat(message.payloadProtocol()).isEqualTo(DDP_SEGMENT);
            assertThat(expected.get(message.stream()).removeFirst()).isEqualTo(message.octets());
        }
    }

    @Test
    void muchDataArrivesInBothDirectionsAndIsAcknowledged() throws Exception {
        RecordingUser client = connect();
        RecordingUser server = bed.takeAccepted();
        byte[] octets = random(new Random(1), 64_000);
        int count = (32 << 20) / octets.length;
        for (int i = 0; i < count; i++) {
            client.send(i % 1024, DDP_SEGMENT, octets);
            server.send(i % 1024, DDP_SEGMENT, octets);
        }
        for (int i = 0; i < count; i++) {
            assertThat(server.takeMessage().octets()).isEqualTo(octets);
            assertThat(client.takeMessage().octets()).isEqualTo(octets);
        }
        Awaitility.await().atMost(SctpBed.PATIENCE).untilAsserted(() -> {
            assertThat(client.acknowledgements).hasValue(count);
            assertThat(server.acknowledgements).hasValue(count);
        });
    }

    @Test
    void aShutdownEndsBothSidesBehindTheData() throws Exception {
        RecordingUser client = connect();
        RecordingUser server = bed.takeAccepted();
        for (int i = 0; i < 50; i++) {
            // Few enough octets for the smallest send buffer that a kernel may grant.
            client.send(0, DDP_SEGMENT, new byte[1_200]);
        }
        client.association.loop().execute(() -> client.association.loop().execute(client.association::shutdown));

        assertThat(server.end()).isEqualTo(new RecordingUser.End(true, "the peer shut the association down"));
        assertThat(client.end()).isEqualTo(new RecordingUser.End(true, "shut down"));
        assertThat(server.messages).hasSize(50);
    }

    @Test
    void anAbortTellsThePeerWhy() throws Exception {
        RecordingUser client = connect();
        RecordingUser server = bed.takeAccepted();

        client.association.loop().execute(() -> client.association.abort("no more of this"));

        assertThat(server.end())
                .isEqualTo(new RecordingUser.End(false, "the peer aborted the association: no more of this"));
        assertThat(client.end()).isEqualTo(new RecordingUser.End(false, "aborted: no more of this"));
    }

    @Test
    void theUserIsWokenAtTheTimeItAskedFor() throws Exception {
        RecordingUser client = connect();
        CompletableFuture<Long> asked = new CompletableFuture<>();
        client.association.loop().execute(() -> {
            long at = client.association.nanoTime() + Duration.ofMillis(20).toNanos();
            client.association.wakeAt(at);
            asked.complete(at);
        });

        client.woken.get(10, TimeUnit.SECONDS);
        assertThat(client.association.nanoTime() - asked.get(1, TimeUnit.SECONDS))
                .isNotNegative();
    }

    @Test
    void factsTellHowTheAssociationDoes() throws Exception {
        RecordingUser client = connect();
        RecordingUser server = bed.takeAccepted();
        client.send(3, DDP_SEGMENT, new byte[1000]);
        server.takeMessage();
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> client.acknowledgements.get() == 1);

        SctpAssociationFacts facts = CompletableFuture.supplyAsync(client.association::facts, client.association.loop())
                .get(10, TimeUnit.SECONDS);
        assertThat(facts.inboundStreams()).isEqualTo(1024);
        assertThat(facts.outboundStreams()).isEqualTo(1024);
        assertThat(facts.unacknowledgedChunks()).isZero();
        assertThat(facts.pendingChunks()).isZero();
        assertThat(facts.paths()).hasSize(1);
        AssociationPath path = facts.paths().getFirst();
        assertThat(path.remote()).isEqualTo(server.association.localAddress().getAddress());
        assertThat(path.primary()).isTrue();
        assertThat(path.active()).isTrue();
        assertThat(path.pathMtu()).isEqualTo(pathMtu());
        assertThat(path.congestionWindow()).isPositive();
        assertThat(path.rto()).isPositive();
    }

    @Test
    void anAssociationThatEndsHasNoFactsAnyMore() throws Exception {
        SctpAssociation association = connect().association;

        SctpAssociationFacts facts = CompletableFuture.supplyAsync(
                        () -> {
                            association.abort("no more");
                            return association.facts();
                        },
                        association.loop())
                .get(10, TimeUnit.SECONDS);

        assertThat(facts).isEqualTo(SctpAssociationFacts.NONE);
    }

    @Test
    void peersThatAbortAtOnceLeaveTheListenerToOthers() throws Exception {
        int port = bed.listen(passive).port();
        for (int i = 0; i < 200; i++) {
            SctpAssociation association = bed.connect(active, port, passive.udpPort()).association;
            association.loop().execute(() -> association.abort("changed my mind"));
        }
        RecordingUser client = bed.connect(active, port, passive.udpPort());
        byte[] octets = random(new Random(2), 1_000);
        client.send(1, DDP_SEGMENT, octets);

        // The listener may or may not have seen the earlier associations.
        Awaitility.await()
                .atMost(SctpBed.PATIENCE)
                .untilAsserted(() -> assertThat(bed.accepted)
                        .anySatisfy(server -> assertThat(server.messages)
                                .anySatisfy(
                                        message -> assertThat(message.octets()).isEqualTo(octets))));
    }
}
