// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.grpc;

import com.google.protobuf.BytesValue;
import com.google.protobuf.Int64Value;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;

/** Methods of the service that both ends know. */
final class Methods {

    static final String SERVICE = "sidewarp.bench.Octets";

    /** Takes messages, and returns the number of their bytes at the end. */
    static final MethodDescriptor<BytesValue, Int64Value> TAKE = MethodDescriptor.<BytesValue, Int64Value>newBuilder()
            .setType(MethodType.CLIENT_STREAMING)
            .setFullMethodName(SERVICE + "/Take")
            .setRequestMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(Int64Value.getDefaultInstance()))
            .build();

    /** Sends each message back. */
    static final MethodDescriptor<BytesValue, BytesValue> ECHO = MethodDescriptor.<BytesValue, BytesValue>newBuilder()
            .setType(MethodType.BIDI_STREAMING)
            .setFullMethodName(SERVICE + "/Echo")
            .setRequestMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
            .build();

    private Methods() {}
}
