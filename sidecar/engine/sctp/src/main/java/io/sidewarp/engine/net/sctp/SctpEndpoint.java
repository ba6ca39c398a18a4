// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.SctpUser;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Local addresses of associations, shared by listeners and by outgoing associations. Any thread may call the methods.
 * Callbacks come on the endpoint's loop.
 */
public interface SctpEndpoint {

    /** Returns the loop that owns the endpoint and its associations. */
    EventLoop loop();

    List<InetAddress> localAddresses();

    /** Returns the local UDP port of the encapsulation; 0 where the stack does not encapsulate. */
    int udpPort();

    /**
     * Listens for associations of peers.
     *
     * @param port SCTP port, 0 for any free one
     * @return fails with {@link java.net.BindException} when the port is in use. Fails in the same way when the UDP
     *     port of the settings is in use, because no peer would find the endpoint.
     */
    CompletableFuture<SctpListener> listen(int port, SctpAssociationHandler handler);

    /**
     * Begins an association.
     *
     * @param handler called when it is up
     * @return completes after {@link SctpUser#onEstablished}. Fails with
     *     {@link SctpConnectException}. Cancelling it ends the attempt.
     */
    CompletableFuture<SctpAssociation> connect(
            SctpDestination destination, Duration timeout, SctpAssociationHandler handler);

    /** Returns a counter so far. */
    long count(SctpCounter counter);

    /** Aborts all associations, stops listening and releases the ports. */
    CompletableFuture<Void> close();
}
