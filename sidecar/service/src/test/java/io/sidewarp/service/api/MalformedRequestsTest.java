// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.Octets;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.ListSessionsRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests that are not messages of the contract. */
class MalformedRequestsTest {

    private static final byte[] TRUNCATED = {0x0a};
    private static final byte[] NO_UTF_8 = {0x0a, 1, (byte) 0xff};

    /** Log lines of gRPC, which logs errors of calls there. */
    private final LogLines log = LogLines.of("io.grpc");

    private TestSidecar sidecar;
    private ManagedChannel channel;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start("sidewarp.limits.api-connection-calls", "3");
        channel = sidecar.channel();
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        sidecar.close();
        log.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sidewarp.v1.MemoryService/ListRegions",
                "sidewarp.v1.DeviceService/OpenSession",
                "sidewarp.v1.MemoryService/Store",
                "sidewarp.v1.TransferService/Queue",
                "grpc.health.v1.Health/Check",
                "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
            })
    void oneIsRefusedWithAStatusAndLeavesNothingInTheLog(String method) {
        for (int call = 0; call < 5; call++) {
            Status status = refusal(method, TRUNCATED);

            assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
            assertThat(status.getDescription()).startsWith("malformed ");
        }
        assertThat(DeviceServiceGrpc.newBlockingStub(channel)
                        .listSessions(ListSessionsRequest.getDefaultInstance())
                        .getSessionsList())
                .isEmpty();
        assertThat(log.all()).isEmpty();
    }

    @Test
    void aNameThatIsNoUtf8IsRefused() {
        assertThat(refusal("sidewarp.v1.DeviceService/OpenSession", NO_UTF_8).getDescription())
                .contains("UTF-8");
        assertThat(log.all()).isEmpty();
    }

    @Test
    void oneThatIsTooLongIsRefused() {
        Status status = refusal("sidewarp.v1.DeviceService/OpenSession", new byte[(256 << 10) + 1]);

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("262145 bytes", "at most 262144");
        assertThat(log.all()).isEmpty();
    }

    @Test
    void oneThatIsMuchTooLongIsRefused() {
        assertThat(refusal("sidewarp.v1.DeviceService/OpenSession", new byte[5 << 20])
                        .getCode())
                .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }

    private Status refusal(String method, byte[] request) {
        return Waiting.status(
                () -> ClientCalls.blockingUnaryCall(channel, Octets.unary(method), CallOptions.DEFAULT, request));
    }
}
