// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Attributes;
import io.grpc.netty.GrpcHttp2ConnectionHandler;
import io.grpc.netty.InternalProtocolNegotiationEvent;
import io.grpc.netty.InternalProtocolNegotiator;
import io.grpc.netty.InternalProtocolNegotiators;
import io.grpc.netty.ProtocolNegotiationEvent;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.AsciiString;

/**
 * Plain HTTP/2 that gives calls the credentials of their Unix socket's peer and their event loop, and that counts
 * connections. Protocol negotiation is the only place where a transport gets attributes, for which gRPC has no public
 * API.
 */
public final class PeerCredentialsNegotiator implements InternalProtocolNegotiator.ProtocolNegotiator {

    private final InternalProtocolNegotiator.ProtocolNegotiator plaintext =
            InternalProtocolNegotiators.serverPlaintext();
    private final ApiConnections connections;

    public PeerCredentialsNegotiator(ApiConnections connections) {
        this.connections = connections;
    }

    @Override
    public AsciiString scheme() {
        return plaintext.scheme();
    }

    @Override
    public ChannelHandler newHandler(GrpcHttp2ConnectionHandler grpcHandler) {
        return new CredentialsHandler(connections, plaintext.newHandler(grpcHandler));
    }

    @Override
    public void close() {
        plaintext.close();
    }

    /** Adds the credentials to the attributes of the first negotiation event, and continues with plain HTTP/2. */
    private static final class CredentialsHandler extends ChannelInboundHandlerAdapter {

        private final ApiConnections connections;
        private final ChannelHandler next;

        CredentialsHandler(ApiConnections connections, ChannelHandler next) {
            this.connections = connections;
            this.next = next;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
            if (event instanceof ProtocolNegotiationEvent negotiation) {
                ApiConnection connection = connections.open(context.channel());
                Attributes attributes = InternalProtocolNegotiationEvent.getAttributes(negotiation).toBuilder()
                        .set(ApiConnection.ATTRIBUTE, connection)
                        .build();
                context.pipeline().replace(context.name(), null, next);
                context.pipeline()
                        .fireUserEventTriggered(
                                InternalProtocolNegotiationEvent.withAttributes(negotiation, attributes));
            } else {
                super.userEventTriggered(context, event);
            }
        }
    }
}
