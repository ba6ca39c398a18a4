// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.error.ApiError;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the requests of a method. One that cannot be read ends its call with a status; gRPC would write a stack trace into
 * the log for each, as often as a client likes.
 */
public final class RequestMarshaller<Q> implements MethodDescriptor.Marshaller<Q> {

    private final MethodDescriptor.Marshaller<Q> messages;

    private RequestMarshaller(MethodDescriptor.Marshaller<Q> messages) {
        this.messages = messages;
    }

    /** The same service, with such a marshaller for each method. */
    public static ServerServiceDefinition in(ServerServiceDefinition service) {
        ServiceDescriptor.Builder descriptor = ServiceDescriptor.newBuilder(
                        service.getServiceDescriptor().getName())
                .setSchemaDescriptor(service.getServiceDescriptor().getSchemaDescriptor());
        List<ServerMethodDefinition<?, ?>> methods = new ArrayList<>();
        for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
            ServerMethodDefinition<?, ?> careful = in(method);
            methods.add(careful);
            descriptor.addMethod(careful.getMethodDescriptor());
        }
        ServerServiceDefinition.Builder result = ServerServiceDefinition.builder(descriptor.build());
        methods.forEach(result::addMethod);
        return result.build();
    }

    private static <Q, R> ServerMethodDefinition<Q, R> in(ServerMethodDefinition<Q, R> method) {
        MethodDescriptor<Q, R> descriptor = method.getMethodDescriptor();
        return ServerMethodDefinition.create(
                descriptor.toBuilder(
                                new RequestMarshaller<>(BoundedMarshaller.of(descriptor.getRequestMarshaller())),
                                descriptor.getResponseMarshaller())
                        .build(),
                method.getServerCallHandler());
    }

    @Override
    public InputStream stream(Q message) {
        return messages.stream(message);
    }

    @Override
    public Q parse(InputStream stream) {
        try {
            return messages.parse(stream);
        } catch (StatusRuntimeException e) {
            RequestOctets octets = RequestOctets.CONTEXT.get();
            if (octets == null) {
                throw e;
            }
            octets.refuse(refusal(e));
            // For nobody: the handler hears of no further message.
            return messages.parse(InputStream.nullInputStream());
        }
    }

    /** Of one that is too long when it is uncompressed, gRPC says so. */
    private static StatusRuntimeException refusal(StatusRuntimeException failure) {
        if (failure.getStatus().getCode() == Status.Code.RESOURCE_EXHAUSTED) {
            return failure;
        }
        String reason = failure.getCause() == null ? null : failure.getCause().getMessage();
        return ApiError.invalid(
                "malformed request: " + (reason == null ? failure.getStatus().getDescription() : reason));
    }
}
