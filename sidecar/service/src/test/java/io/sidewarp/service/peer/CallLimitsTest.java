// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.netty.channel.embedded.EmbeddedChannel;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.GetDeviceResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CallLimitsTest {

    private static final Peer USER = new Peer(1, 1000, 1000);
    private static final ServerCall.Listener<GetDeviceRequest> NOTHING = new ServerCall.Listener<>() {};

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final CallLimits limits = new CallLimits();

    @Test
    void theHeadersOfACallAreNotKeptAsLongAsTheCall() {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("text", Metadata.ASCII_STRING_MARSHALLER), "x".repeat(8000));
        headers.put(Metadata.Key.of("octets-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[8000]);
        TestCall call = new TestCall(connection("sidewarp.limits.api-connection-calls", "1"), "localhost");

        begin(call, headers, (begun, seen) -> {
            assertThat(seen.keys()).hasSize(2);
            return NOTHING;
        });

        assertThat(headers.keys()).isEmpty();
    }

    @Test
    void anAuthorityThatIsMuchTooLongIsRefused() {
        TestCall call = new TestCall(connection(), "x".repeat(8000));

        begin(call);

        assertThat(call.closed.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void aCallCountsUntilItsClientHasTakenAllOfItOrLeaves() {
        ApiConnection connection = connection("sidewarp.limits.api-connection-calls", "1");
        ServerCall.Listener<GetDeviceRequest> first = begin(new TestCall(connection, "localhost"));

        TestCall second = new TestCall(connection, "localhost");
        begin(second);
        first.onComplete();
        TestCall third = new TestCall(connection, "localhost");
        begin(third).onCancel();
        TestCall fourth = new TestCall(connection, "localhost");
        begin(fourth);

        assertThat(second.closed.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(third.closed).isEqualTo(Status.OK);
        assertThat(fourth.closed).isEqualTo(Status.OK);
    }

    @Test
    void aCallThatFailsAtItsBeginCountsNoMore() {
        ApiConnection connection = connection("sidewarp.limits.api-connection-calls", "1");
        assertThatThrownBy(() -> begin(new TestCall(connection, "localhost"), new Metadata(), (call, headers) -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");

        TestCall next = new TestCall(connection, "localhost");
        begin(next);

        assertThat(next.closed).isEqualTo(Status.OK);
    }

    @Test
    void aClientThatDoesNotTakeItsRefusalsLosesItsConnection() {
        ApiConnection connection = connection("sidewarp.limits.api-connection-calls", "1");
        begin(new TestCall(connection, "localhost"));
        for (int refused = 0; refused < 1024; refused++) {
            begin(new TestCall(connection, "localhost"));
        }
        assertThat(channel.isOpen()).isTrue();

        begin(new TestCall(connection, "localhost"));

        assertThat(channel.isOpen()).isFalse();
    }

    private ServerCall.Listener<GetDeviceRequest> begin(TestCall call) {
        return begin(call, new Metadata(), (begun, headers) -> NOTHING);
    }

    private ServerCall.Listener<GetDeviceRequest> begin(
            TestCall call, Metadata headers, ServerCallHandler<GetDeviceRequest, GetDeviceResponse> handler) {
        return limits.interceptCall(call, headers, handler);
    }

    private ApiConnection connection(String... settings) {
        return new ApiConnections(
                        TestSidecar.config(Path.of("/dev/shm/none"), settings).limits(), new QuotaRefusals())
                .open(USER, channel);
    }

    /** A call of a connection, and its closing status. */
    private static final class TestCall extends ServerCall<GetDeviceRequest, GetDeviceResponse> {

        private final ApiConnection connection;
        private final String authority;
        private Status closed = Status.OK;

        TestCall(ApiConnection connection, String authority) {
            this.connection = connection;
            this.authority = authority;
        }

        @Override
        public void close(Status status, Metadata trailers) {
            closed = status;
        }

        @Override
        public Attributes getAttributes() {
            return Attributes.newBuilder()
                    .set(ApiConnection.ATTRIBUTE, connection)
                    .build();
        }

        @Override
        public String getAuthority() {
            return authority;
        }

        @Override
        public void request(int messages) {}

        @Override
        public void sendHeaders(Metadata headers) {}

        @Override
        public void sendMessage(GetDeviceResponse message) {}

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public MethodDescriptor<GetDeviceRequest, GetDeviceResponse> getMethodDescriptor() {
            return DeviceServiceGrpc.getGetDeviceMethod();
        }
    }
}
