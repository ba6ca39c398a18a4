// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Session;
import java.util.concurrent.CompletableFuture;

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
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        try (Listener listener = to.listen(address, 0, request -> {
            try {
                accepted.complete(request.accept(responderOptions));
            } catch (RuntimeException e) {
                accepted.completeExceptionally(e);
            }
        })) {
            Connection initiator = from.connect(address, listener.port(), initiatorOptions);
            return new Link(initiator, Patience.get(accepted));
        }
    }
}
