// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.MethodDescriptor;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.sidewarp.service.peer.AnswerQuota;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.v1.TransferServiceGrpc;

/** The Queue method with marshallers of its own, which make no object for each work request and completion. */
public final class QueueMethod {

    private QueueMethod() {}

    /** The same service, but for Queue. */
    public static ServerServiceDefinition replaceIn(ServerServiceDefinition service, QueueSessions sessions) {
        MethodDescriptor<QueueFrame, CompletionBatch> queue = TransferServiceGrpc.getQueueMethod().toBuilder(
                        QueueFrame.MARSHALLER, CompletionBatch.MARSHALLER)
                .build();
        ServiceDescriptor.Builder descriptor = ServiceDescriptor.newBuilder(
                        service.getServiceDescriptor().getName())
                .setSchemaDescriptor(service.getServiceDescriptor().getSchemaDescriptor());
        for (MethodDescriptor<?, ?> method : service.getServiceDescriptor().getMethods()) {
            descriptor.addMethod(isQueue(method) ? queue : method);
        }
        ServerServiceDefinition.Builder result = ServerServiceDefinition.builder(descriptor.build());
        for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
            if (!isQueue(method.getMethodDescriptor())) {
                result.addMethod(method);
            }
        }
        ServerCallHandler<QueueFrame, CompletionBatch> handler = (call, headers) -> {
            call.request(1);
            return new QueueCall(call, sessions, Peer.CONTEXT.get(), AnswerQuota.CONTEXT.get());
        };
        return result.addMethod(queue, handler).build();
    }

    private static boolean isQueue(MethodDescriptor<?, ?> method) {
        return method.getFullMethodName()
                .equals(TransferServiceGrpc.getQueueMethod().getFullMethodName());
    }
}
