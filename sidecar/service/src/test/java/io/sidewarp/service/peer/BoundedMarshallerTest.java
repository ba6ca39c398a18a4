// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.StoreHeader;
import io.sidewarp.v1.StoreRequest;
import java.io.InputStream;
import java.util.Collections;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a request may take of the heap while it is read. */
class BoundedMarshallerTest {

    private static final int MAX = BoundedMarshaller.MAX_MESSAGES;

    private final MethodDescriptor.Marshaller<ConnectRequest> connect =
            BoundedMarshaller.of(ConnectionServiceGrpc.getConnectMethod().getRequestMarshaller());

    @Test
    void fieldsThatNobodyKnowsAreNotKept() {
        UnknownFieldSet unknown = UnknownFieldSet.newBuilder()
                .mergeVarintField(1000, 1)
                .mergeLengthDelimitedField(1001, ByteString.copyFromUtf8("of a newer client"))
                .build();
        ReceiveWork receive =
                ReceiveWork.newBuilder().setId(5).setUnknownFields(unknown).build();
        ConnectRequest request = ConnectRequest.newBuilder()
                .setAddress("peer")
                .addReceives(receive)
                .setUnknownFields(unknown)
                .build();

        assertThat(read(request))
                .isEqualTo(ConnectRequest.newBuilder()
                        .setAddress("peer")
                        .addReceives(ReceiveWork.newBuilder().setId(5))
                        .build());
    }

    @Test
    void asManyMessagesAsPossibleAreRead() {
        assertThat(read(receives(MAX)).getReceivesCount()).isEqualTo(MAX);
    }

    static Stream<ConnectRequest> tooMany() {
        return Stream.of(
                receives(MAX + 1),
                ConnectRequest.newBuilder()
                        .addReceives(ReceiveWork.newBuilder()
                                .addAllLocal(Collections.nCopies(MAX, Sge.getDefaultInstance())))
                        .build());
    }

    @ParameterizedTest
    @MethodSource("tooMany")
    void oneMoreIsRefused(ConnectRequest request) {
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> read(request))
                .satisfies(e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED))
                .withMessageContaining("more than " + MAX + " messages");
    }

    @Test
    void octetsOfPayloadAreNoMessages() {
        MethodDescriptor.Marshaller<StoreRequest> store =
                BoundedMarshaller.of(MemoryServiceGrpc.getStoreMethod().getRequestMarshaller());
        // Each octet of it would be a message's tag or length.
        StoreRequest request = StoreRequest.newBuilder()
                .setHeader(StoreHeader.newBuilder().setRegion(1))
                .setData(receives(MAX + 1).toByteString())
                .build();

        assertThat(store.parse(stream(request))).isEqualTo(request);
    }

    private ConnectRequest read(ConnectRequest request) {
        return connect.parse(stream(request));
    }

    private static InputStream stream(MessageLite message) {
        return message.toByteString().newInput();
    }

    private static ConnectRequest receives(int count) {
        return ConnectRequest.newBuilder()
                .addAllReceives(Collections.nCopies(count, ReceiveWork.getDefaultInstance()))
                .build();
    }
}
