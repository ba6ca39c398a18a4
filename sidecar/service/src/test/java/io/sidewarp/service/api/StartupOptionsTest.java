// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionRejected;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.CrcPreference;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.MpaOptions;
import io.sidewarp.v1.ReadDepthNegotiation;
import io.sidewarp.v1.ReadyIndication;
import io.sidewarp.v1.RejectRequest;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the options of callers and administrators for MPA start-up. */
class StartupOptionsTest extends TwoSidecars {

    @Override
    TestSidecar startLeft() {
        return TestSidecar.start(
                "sidewarp.connection.allow-crc-off",
                "true",
                "sidewarp.connection.integrity-protection",
                "loopback of a test");
    }

    @Override
    TestSidecar startRight() {
        return TestSidecar.start("sidewarp.connection.mpa-revisions", "1,2");
    }

    private TestSession.Listening listen(ConnectionOptions.Builder options) {
        return server.listen(ListenRequest.newBuilder()
                .setSession(server.token())
                .setAddress("127.0.0.1")
                .setOptions(options)
                .build());
    }

    private CompletableFuture<Connection> connect(TestSession.Listening to, ConnectionOptions.Builder options) {
        return client.connect(
                client.connectRequest(to.port()).setOptions(options).build());
    }

    private Connection accept(ConnectionRequest request, ConnectionOptions.Builder options) {
        return server.connections()
                .accept(AcceptRequest.newBuilder()
                        .setSession(server.token())
                        .setRequest(request.getId())
                        .setOptions(options)
                        .build())
                .getConnection();
    }

    private static ConnectionOptions.Builder options() {
        return ConnectionOptions.newBuilder();
    }

    private static MpaOptions.Builder revision2() {
        return MpaOptions.newBuilder().setRequestRevision(2);
    }

    private Status refusal(ConnectionOptions.Builder options) {
        return Waiting.status(() -> client.connections()
                .connect(client.connectRequest(1).setOptions(options).build()));
    }

    @Test
    @Requirement("EMPA-9.1-03")
    void revision2NegotiatesTheDepthsAndTellsThePeers() {
        try (TestSession.Listening listening = listen(options())) {
            CompletableFuture<Connection> connecting =
                    connect(listening, options().setIrd(3).setOrd(20).setMpa(revision2()));
            ConnectionRequest request = listening.next();
            Connection there = accept(request, options().setIrd(8).setOrd(16));
            Connection here = Waiting.join(connecting);

            assertThat(request.getMpaRevision()).isEqualTo(2);
            assertThat(request.getPeerIrd()).isEqualTo(3);
            assertThat(request.getPeerOrd()).isEqualTo(20);
            assertThat(here.getMpaRevision()).isEqualTo(2);
            assertThat(here.getProtocolVersion()).isEqualTo(1);
            assertThat(here.getOrd()).isEqualTo(8);
            assertThat(here.getPeerIrd()).isEqualTo(8);
            assertThat(here.getPeerOrd()).isEqualTo(3);
            assertThat(there.getOrd()).isEqualTo(3);
            assertThat(there.getPeerToPeer()).isFalse();
        }
    }

    @Test
    void whatAnAcceptDoesNotSayTheListenerSays() {
        try (TestSession.Listening listening =
                listen(options().setIrd(5).setOrd(6).setCrc(CrcPreference.CRC_PREFERENCE_REQUIRED))) {
            CompletableFuture<Connection> connecting = connect(listening, options());
            Connection there = accept(listening.next(), options().setOrd(7));

            assertThat(there.getIrd()).isEqualTo(5);
            assertThat(there.getOrd()).isEqualTo(7);
            Waiting.join(connecting);
        }
    }

    @Test
    void aListenerThatRequiresCrcsIsNoneForPeersWithout() {
        try (TestSession.Listening listening = listen(options().setCrc(CrcPreference.CRC_PREFERENCE_REQUIRED))) {
            CompletableFuture<Connection> connecting =
                    connect(listening, options().setCrc(CrcPreference.CRC_PREFERENCE_OFF));

            assertThat(Waiting.failure(() -> Waiting.join(connecting))
                            .getStatus()
                            .getCode())
                    .isEqualTo(Status.Code.ABORTED);
        }
    }

    @Test
    @Requirement("EMPA-9.2-01")
    void thePeerToPeerModelIsAgreedOn() {
        try (TestSession.Listening listening = listen(options())) {
            CompletableFuture<Connection> connecting = connect(
                    listening,
                    options()
                            .setMpa(MpaOptions.newBuilder()
                                    .setPeerToPeer(true)
                                    .addReadyIndications(ReadyIndication.READY_INDICATION_READ)
                                    .addReadyIndications(ReadyIndication.READY_INDICATION_SEND)));
            Connection there = accept(
                    listening.next(),
                    options()
                            .setMpa(MpaOptions.newBuilder()
                                    .addReadyIndications(ReadyIndication.READY_INDICATION_SEND)));

            assertThat(there.getPeerToPeer()).isTrue();
            assertThat(Waiting.join(connecting).getPeerToPeer()).isTrue();
        }
    }

    @Test
    void depthsInPrivateDataAreNotTheApplications() {
        MpaOptions.Builder legacy =
                MpaOptions.newBuilder().setReadDepths(ReadDepthNegotiation.READ_DEPTH_NEGOTIATION_PRIVATE_DATA);
        try (TestSession.Listening listening = listen(options().setMpa(legacy))) {
            CompletableFuture<Connection> connecting =
                    connect(listening, options().setIrd(2).setOrd(9).setMpa(legacy));
            ConnectionRequest request = listening.next();
            Connection there = accept(request, options().setIrd(4));

            assertThat(request.getPrivateData()).isEmpty();
            assertThat(request.getPeerIrd()).isEqualTo(2);
            assertThat(there.getOrd()).isEqualTo(2);
            assertThat(Waiting.join(connecting).getOrd()).isEqualTo(4);
        }
    }

    @Test
    @Requirement("EMPA-9.1-03")
    void aRejectionTellsWhatWouldBeNeeded() {
        try (TestSession.Listening listening = listen(options())) {
            CompletableFuture<Connection> connecting =
                    connect(listening, options().setMpa(revision2()));
            server.connections()
                    .reject(RejectRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .setRequiredOrd(40)
                            .build());

            StatusRuntimeException failure = Waiting.failure(() -> Waiting.join(connecting));

            assertThat(Waiting.detail(failure, ConnectionRejected.class).getPeerOrd())
                    .isEqualTo(40);
        }
    }

    @Test
    void callersCannotPermitMoreRevisionsThanTheAdministrator() {
        Status status = Waiting.status(() -> server.connections()
                .connect(server.connectRequest(1)
                        .setOptions(options()
                                .setMpa(MpaOptions.newBuilder().addRevisions(0).addRevisions(1)))
                        .build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(status.getDescription()).contains("sidewarp.connection.mpa-revisions");
    }

    @Test
    void optionsThatCannotWorkAreNamed() {
        assertThat(refusal(options().setMpa(MpaOptions.newBuilder().addRevisions(3)))
                        .getDescription())
                .startsWith("options.mpa.revisions is [3]");
        assertThat(refusal(options().setMpa(MpaOptions.newBuilder().addRevisions(0)))
                        .getDescription())
                .startsWith("options.mpa.revisions is [0]");
        assertThat(refusal(options().setMpa(revision2().addRevisions(1))).getDescription())
                .startsWith("options.mpa.request_revision is 2");
        assertThat(refusal(options()
                                .setMpa(MpaOptions.newBuilder()
                                        .setRequestRevision(1)
                                        .setPeerToPeer(true)))
                        .getDescription())
                .startsWith("options.mpa.peer_to_peer");
        assertThat(refusal(options()
                                .setMpa(MpaOptions.newBuilder()
                                        .addReadyIndications(ReadyIndication.READY_INDICATION_UNSPECIFIED)))
                        .getDescription())
                .startsWith("options.mpa.ready_indications");
        assertThat(refusal(options().setMaxFpdu(-1)).getDescription()).startsWith("options.max_fpdu");
    }

    @Test
    void ofALongListThatCannotBeTheWrongPartIsTold() {
        List<Integer> revisions =
                Stream.iterate(-1, revision -> revision - 1).limit(1000).toList();
        List<ReadyIndication> indications = Collections.nCopies(1000, ReadyIndication.READY_INDICATION_WRITE);

        assertThat(refusal(options().setMpa(MpaOptions.newBuilder().addAllRevisions(revisions)))
                        .getDescription())
                .startsWith("options.mpa.revisions is [4294967295];");
        assertThat(refusal(options().setMpa(MpaOptions.newBuilder().addAllReadyIndications(indications)))
                        .getDescription())
                .startsWith("options.mpa.ready_indications is [READY_INDICATION_WRITE, READY_INDICATION_WRITE];");
    }
}
