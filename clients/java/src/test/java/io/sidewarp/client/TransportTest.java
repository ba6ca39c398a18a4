// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.grpc.CallOptions;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransportTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void unixSocketIsReachedWithAndWithoutEpoll(boolean epoll) throws Exception {
        try (FakeSidecar sidecar = new FakeSidecar(directory);
                Transport transport = new Transport(new Target.Unix(sidecar.socket), epoll)) {
            assertThat(health(transport).getStatus()).isEqualTo(ServingStatus.SERVING);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void tcpPortIsReachedWithAndWithoutEpoll(boolean epoll) throws Exception {
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new HealthStatusManager().getHealthService())
                .build()
                .start();
        try (Transport transport = new Transport(new Target.Tcp("localhost", server.getPort()), epoll)) {
            assertThat(health(transport).getStatus()).isEqualTo(ServingStatus.SERVING);
        } finally {
            server.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void missingSocketIsNamedWithAndWithoutEpoll(boolean epoll) {
        try (Transport transport = new Transport(new Target.Unix(directory.resolve("none")), epoll)) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> health(transport))
                    .withMessageContaining("the socket does not exist");
        }
    }

    @Test
    void callThatTakesTooLongSaysWhoDidNotAnswer() throws Exception {
        try (FakeSidecar sidecar = new FakeSidecar(directory);
                Transport transport = new Transport(new Target.Unix(sidecar.socket))) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> health(transport, CallOptions.DEFAULT.withDeadlineAfter(0, TimeUnit.NANOSECONDS)))
                    .withMessageContaining("did not answer in time");
        }
    }

    @Test
    void eventLoopMayNotBlock() throws Exception {
        Transport.checkMayBlock();
        try (Transport transport = new Transport(new Target.Tcp("localhost", 1))) {
            CompletableFuture<Void> onLoop =
                    CompletableFuture.runAsync(Transport::checkMayBlock, transport::onEventLoop);

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(onLoop::get)
                    .withCauseInstanceOf(IllegalStateException.class);
        }
    }

    private static HealthCheckResponse health(Transport transport) {
        return health(transport, CallOptions.DEFAULT);
    }

    private static HealthCheckResponse health(Transport transport, CallOptions options) {
        return CallFuture.await(CallFuture.start(
                transport,
                "the test's server",
                HealthGrpc.getCheckMethod(),
                HealthCheckRequest.getDefaultInstance(),
                options));
    }
}
