// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SessionInfo;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionTest {

    private TestSidecar sidecar;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start("sidewarp.limits.sessions", "4");
    }

    @AfterEach
    void stop() {
        sidecar.close();
    }

    @Test
    void theDeviceTellsWhatItCanDoWithoutASession() {
        ManagedChannel channel = sidecar.channel();
        DeviceInfo device = DeviceServiceGrpc.newBlockingStub(channel)
                .getDevice(GetDeviceRequest.getDefaultInstance())
                .getDevice();
        TestSidecar.close(channel);

        assertThat(device.getProvider()).isEqualTo("software");
        assertThat(device.getVersion()).isEqualTo("test");
        assertThat(device.getLlpsList()).containsExactly(Llp.LLP_TCP, Llp.LLP_SCTP);
        assertThat(device.getSharedVolume()).isEqualTo(sidecar.sharedVolume().toString());
        assertThat(device.getPageSize()).isGreaterThanOrEqualTo(4096);
        assertThat(device.getLimits().getMaxRegions()).isEqualTo(1024);
        assertThat(device.getLimits().getMaxPrivateData()).isEqualTo(512);
        assertThat(device.getLimits().getMaxCompletionEntries()).isEqualTo(1 << 20);
        assertThat(device.getLimits().getMaxReadRequests()).isEqualTo(16_384);
        assertThat(device.getLimits().getMaxReceives()).isEqualTo(1 << 19);
        assertThat(device.getLimits().getMaxSharedReceiveQueues()).isEqualTo(64);
    }

    @Test
    void aSessionBelongsToTheProcessAndUserThatTheKernelNames() {
        try (TestSession session = sidecar.session("mine")) {
            SessionInfo info = session.device()
                    .listSessions(ListSessionsRequest.getDefaultInstance())
                    .getSessions(0);

            assertThat(info.getName()).isEqualTo("mine");
            assertThat(info.getPid()).isEqualTo(ProcessHandle.current().pid());
            assertThat(info.getUid()).isNotNegative();
            assertThat(session.token()).matches("[0-9a-f]{32}");
            assertThat(session.opened().getOpened().getDefaultProtectionDomain())
                    .isPositive();
        }
    }

    @Test
    void everythingOfASessionGoesWhenItsClientGoes() {
        try (TestSession stays = sidecar.session("stays")) {
            TestSession goes = sidecar.session("goes");
            Region region = goes.shared("gone", 1 << 20, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_LOCAL_WRITE);
            Region source = stays.managed(1 << 20);
            goes.listen().port();
            TestSession.Pair pair = stays.connectTo(goes);
            TestQueue queue = goes.queue(10);
            queue.credits();
            queue.post(Works.receive(1, pair.there().getId(), region, 0, 100).build());
            assertThat(source.getLength()).isEqualTo(1 << 20);
            assertThat(sidecar.sharedVolume().resolve("gone")).exists();

            goes.close();

            Awaitility.await()
                    .until(() -> stays.device()
                                    .listSessions(ListSessionsRequest.getDefaultInstance())
                                    .getSessionsCount()
                            == 1);
            Awaitility.await()
                    .untilAsserted(() ->
                            assertThat(sidecar.sharedVolume().resolve("gone")).doesNotExist());
            ConnectionState state = ConnectionState.CONNECTION_STATE_UNSPECIFIED;
            while (state != ConnectionState.CONNECTION_STATE_CLOSED) {
                state = stays.nextEvent().getConnection().getState();
            }
            // The quota of sessions is free again only when everything is released.
            Awaitility.await().untilAsserted(() -> sidecar.session("next").close());
        }
    }

    @Test
    void aNameHas64CharactersOfAnyScriptAtMost() {
        try (TestSession longest = sidecar.session("\uD83D\uDE00".repeat(64))) {
            Status status = Waiting.status(() -> DeviceServiceGrpc.newBlockingStub(longest.channel())
                    .openSession(OpenSessionRequest.newBuilder()
                            .setName("\uD83D\uDE00".repeat(65))
                            .build())
                    .next());

            assertThat(status.getDescription()).isEqualTo("name is 65 characters; allowed: at most 64 characters");
        }
    }

    @Test
    void theTokenOfAnEndedSessionIsWorthNothing() {
        TestSession ended = sidecar.session("ended");
        String token = ended.token();
        ended.close();
        try (TestSession session = sidecar.session("other")) {
            Awaitility.await()
                    .until(() -> Waiting.status(() -> session.memory()
                                            .listRegions(ListRegionsRequest.newBuilder()
                                                    .setSession(token)
                                                    .build()))
                                    .getCode()
                            == Status.Code.UNAUTHENTICATED);
        }
    }

    @Test
    void theNumberOfSessionsIsLimited() {
        try (TestSession first = sidecar.session("first");
                TestSession second = sidecar.session("second")) {
            CompletableFuture<Throwable> refused = new CompletableFuture<>();
            DeviceServiceGrpc.newStub(first.channel())
                    .openSession(OpenSessionRequest.getDefaultInstance(), new StreamObserver<>() {
                        @Override
                        public void onNext(OpenSessionResponse response) {}

                        @Override
                        public void onError(Throwable failure) {
                            refused.complete(failure);
                        }

                        @Override
                        public void onCompleted() {}
                    });

            Status status = Status.fromThrowable(Waiting.join(refused));
            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription()).contains("sidewarp.limits.sessions");
            assertThat(second.token()).isNotEqualTo(first.token());
        }
    }

    @Test
    void callersThatAreNotAllowedAreTurnedAway() {
        try (TestSidecar restricted = TestSidecar.start("sidewarp.api.allowed-uids", "4000000000")) {
            ManagedChannel channel = restricted.channel();
            Status status = Waiting.status(
                    () -> DeviceServiceGrpc.newBlockingStub(channel).getDevice(GetDeviceRequest.getDefaultInstance()));
            TestSidecar.close(channel);

            assertThat(status.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
            assertThat(status.getDescription()).contains("sidewarp.api.allowed-uids");
        }
    }

    @Test
    void healthAndReflectionAreOn() {
        ManagedChannel channel = sidecar.channel();
        for (String service : new String[] {"", "sidewarp.v1", "outbound"}) {
            assertThat(HealthGrpc.newBlockingStub(channel)
                            .check(HealthCheckRequest.newBuilder()
                                    .setService(service)
                                    .build())
                            .getStatus())
                    .isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
        }
        CompletableFuture<ServerReflectionResponse> services = new CompletableFuture<>();
        var call = ServerReflectionGrpc.newStub(channel).serverReflectionInfo(new StreamObserver<>() {
            @Override
            public void onNext(ServerReflectionResponse response) {
                services.complete(response);
            }

            @Override
            public void onError(Throwable failure) {
                services.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {}
        });
        call.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());

        assertThat(Waiting.join(services).getListServicesResponse().getServiceList())
                .extracting(ServiceResponse::getName)
                .contains(
                        "sidewarp.v1.DeviceService",
                        "sidewarp.v1.MemoryService",
                        "sidewarp.v1.ConnectionService",
                        "sidewarp.v1.TransferService",
                        "grpc.health.v1.Health");
        call.onCompleted();
        TestSidecar.close(channel);
    }

    @Test
    void theApiIsOnLoopbackTcpIfAskedFor() {
        try (TestSidecar tcp = TestSidecar.start("sidewarp.api.tcp.port", "0")) {
            ManagedChannel channel = io.grpc.netty.NettyChannelBuilder.forAddress(
                            "127.0.0.1", tcp.sidecar().tcpPort().getAsInt())
                    .usePlaintext()
                    .build();
            assertThat(DeviceServiceGrpc.newBlockingStub(channel)
                            .getDevice(GetDeviceRequest.getDefaultInstance())
                            .getDevice()
                            .getProvider())
                    .isEqualTo("software");
            TestSidecar.close(channel);
        }
    }
}
