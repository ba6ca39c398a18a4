// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.LowerLayerProtocol;
import io.sidewarp.client.Session;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A connection with both of its ends in this test.
 *
 * @param initiator the end that connected
 * @param responder the end that accepted
 */
public record Link(Connection initiator, Connection responder) {

    public static final String LOOPBACK = "127.0.0.1";

    public static Link connect(Session from, Session to) {
        return connect(from, ConnectionOptions.defaults(), to, ConnectionOptions.defaults());
    }

    /** Over SCTP in UDP. */
    public static Link connectOverSctp(String address, Session from, Session to) {
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        ListenOptions options = ListenOptions.defaults().withLlp(LowerLayerProtocol.SCTP);
        try (Listener listener =
                to.listen(address, 0, options, request -> accept(request, IncomingConnection::accept, accepted))) {
            Connection initiator = from.connect(
                    address,
                    listener.port(),
                    ConnectionOptions.builder()
                            .llp(LowerLayerProtocol.SCTP)
                            .udpPort(listener.udpPort())
                            .build());
            return new Link(initiator, Patience.get(accepted));
        }
    }

    public static Link connect(
            Session from, ConnectionOptions initiatorOptions, Session to, ConnectionOptions responderOptions) {
        return connect(LOOPBACK, from, initiatorOptions, to, responderOptions);
    }

    /** @param address of the responder */
    public static Link connect(
            String address,
            Session from,
            ConnectionOptions initiatorOptions,
            Session to,
            ConnectionOptions responderOptions) {
        return connect(address, from, initiatorOptions, to, request -> request.accept(responderOptions));
    }

    /** @param responder of {@link Session#createConnection(ConnectionOptions)}, accepts */
    public static Link connect(Session from, Session to, Connection responder) {
        return connect(LOOPBACK, from, ConnectionOptions.defaults(), to, request -> request.accept(responder));
    }

    private static Link connect(
            String address,
            Session from,
            ConnectionOptions initiatorOptions,
            Session to,
            Function<IncomingConnection, Connection> accepting) {
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        try (Listener listener = to.listen(address, 0, request -> accept(request, accepting, accepted))) {
            Connection initiator = from.connect(address, listener.port(), initiatorOptions);
            return new Link(initiator, Patience.get(accepted));
        }
    }

    private static void accept(
            IncomingConnection request,
            Function<IncomingConnection, Connection> accepting,
            CompletableFuture<Connection> accepted) {
        try {
            accepted.complete(accepting.apply(request));
        } catch (RuntimeException e) {
            accepted.completeExceptionally(e);
        }
    }
}
