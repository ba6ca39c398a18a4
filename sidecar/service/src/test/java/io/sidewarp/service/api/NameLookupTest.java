// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.Duration;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.sidewarp.service.testing.PlayedNames;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectResponse;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.OpenSessionRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests connects to peers by names for which no DNS answers. */
class NameLookupTest {

    private static final int CONNECTIONS = 4;

    private String domain;
    private TestSidecar sidecar;
    private TestSession session;

    @BeforeEach
    void start() {
        domain = PlayedNames.begin();
        sidecar = TestSidecar.start(
                "sidewarp.connection.timeout", "1m",
                "sidewarp.limits.sessions", "4",
                "sidewarp.limits.connections", Integer.toString(CONNECTIONS),
                "sidewarp.limits.lookups", "2");
        session = sidecar.session();
    }

    @AfterEach
    void stop() {
        PlayedNames.end();
        session.close();
        sidecar.close();
    }

    @Test
    void aConnectWhosePeersNameIsNotAnsweredFailsInItsTime() {
        Status status = failureOfABriefConnect(0);

        assertThat(status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(status.getDescription()).contains("DNS", name(0), "50 ms", "options.timeout");
    }

    @Test
    void aConnectThatFailsAtTheNameCountsAsAFailureOfStartUp() {
        failureOfABriefConnect(0);
        ListenableFuture<ConnectResponse> second = connect(1);
        Awaitility.await().until(() -> PlayedNames.asked().contains(name(1)));
        second.cancel(true);
        Awaitility.await().untilAsserted(() -> assertFailures("aborted"));
        PlayedNames.end();
        Status unknown =
                Waiting.status(() -> session.connections().connect(request(2).build()));

        assertThat(unknown.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(unknown.getDescription()).contains("is not known");
        assertFailures("timeout");
        assertFailures("unreachable");
    }

    /** That there was one. */
    private void assertFailures(String reason) {
        assertThat(sidecar.get("/q/metrics"))
                .containsPattern("sidewarp_startup_failures_total\\{[^}]*reason=\"" + reason
                        + "\",role=\"initiator\"[^}]*} 1\\.0");
    }

    @Test
    void namesWithoutAnswerDelayNeitherMemoryNorOtherSessions() {
        connects(CONNECTIONS);
        Awaitility.await().until(() -> PlayedNames.asked().size() == 2);

        assertThat(session.managed(4096).getLength()).isEqualTo(4096);
        try (TestSession other = sidecar.session("other");
                TestSession.Listening listening = other.listen()) {
            CompletableFuture<?> connecting = other.connect(other.connectRequest(listening.port())
                    .setAddress("localhost")
                    .build());
            other.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(other.token())
                            .setRequest(listening.next().getId())
                            .build());
            Waiting.join(connecting);
        }
        assertThat(PlayedNames.asked()).hasSize(2);
    }

    @Test
    void aConnectThatWaitsForAnAddressCountsAsAConnectionUntilItIsCancelled() {
        List<ListenableFuture<ConnectResponse>> connects = connects(CONNECTIONS);
        Status status = Waiting.status(
                () -> session.connections().connect(request(CONNECTIONS).build()));
        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("sidewarp.limits.connections");

        connects.get(2).cancel(true);
        Awaitility.await().until(() -> failureOfABriefConnect(CONNECTIONS).getCode() == Status.Code.DEADLINE_EXCEEDED);
        connect(CONNECTIONS + 1);
        Awaitility.await().until(() -> failureOfABriefConnect(CONNECTIONS).getCode() == Status.Code.RESOURCE_EXHAUSTED);
        PlayedNames.end();

        Awaitility.await()
                .untilAsserted(() -> assertThat(PlayedNames.asked())
                        .containsExactlyInAnyOrder(name(0), name(1), name(3), name(CONNECTIONS + 1)));
    }

    @Test
    void aSessionThatEndsWaitsForNoAnswer() {
        connects(CONNECTIONS);
        Awaitility.await().until(() -> PlayedNames.asked().size() == 2);

        session.close();

        Awaitility.await().until(() -> sidecar.sidecar().sessions().count() == 0);
    }

    @Test
    void aSessionThatEndedCountsUntilItsNamesAreAnswered() {
        connects(CONNECTIONS);
        Awaitility.await().until(() -> PlayedNames.asked().size() == 2);
        session.close();
        Awaitility.await().until(() -> sidecar.sidecar().sessions().count() == 0);
        try (TestSession second = sidecar.session("second")) {
            assertThat(second.token()).isNotEmpty();

            Status status = Waiting.status(this::openSession);
            PlayedNames.end();

            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription()).contains("sidewarp.limits.sessions");
            Awaitility.await().ignoreExceptions().untilAsserted(this::openSession);
        }
    }

    /** Opens one and leaves. */
    private void openSession() {
        ManagedChannel channel = sidecar.channel();
        try {
            assertThat(DeviceServiceGrpc.newBlockingStub(channel)
                            .openSession(OpenSessionRequest.getDefaultInstance())
                            .next()
                            .hasOpened())
                    .isTrue();
        } finally {
            TestSidecar.close(channel);
        }
    }

    /** Returns the status of a connect to the peer with a timeout of 50 ms. */
    private Status failureOfABriefConnect(int peer) {
        return Waiting.status(() -> session.connections()
                .connect(request(peer)
                        .setOptions(ConnectionOptions.newBuilder()
                                .setTimeout(Duration.newBuilder().setNanos(50_000_000)))
                        .build()));
    }

    private List<ListenableFuture<ConnectResponse>> connects(int count) {
        List<ListenableFuture<ConnectResponse>> connects = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            connects.add(connect(i));
        }
        return connects;
    }

    private ListenableFuture<ConnectResponse> connect(int peer) {
        return ConnectionServiceGrpc.newFutureStub(session.channel())
                .connect(request(peer).build());
    }

    private ConnectRequest.Builder request(int peer) {
        return session.connectRequest(1).setAddress(name(peer));
    }

    private String name(int peer) {
        return "peer" + peer + domain;
    }
}
