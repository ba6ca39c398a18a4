// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Local addresses that associations begin and end at, shared by listeners and by outgoing associations. May be called by
 * any thread; what it calls back comes on its loop.
 */
public interface SctpEndpoint {

    /** The loop that owns the endpoint and its associations. */
    EventLoop loop();

    List<InetAddress> localAddresses();

    /** The local UDP port of the encapsulation; 0 where the stack does not encapsulate. */
    int udpPort();

    /**
     * Takes associations of peers.
     *
     * @param port SCTP port, 0 for any free one
     * @return fails with {@link java.net.BindException} when the port is in use, or when the UDP port of the settings
     *     is, so that no peer would find the endpoint
     */
    CompletableFuture<SctpListener> listen(int port, SctpAssociationHandler handler);

    /**
     * Begins an association.
     *
     * @param handler called when it is up
     * @return complete after {@link io.sidewarp.engine.llp.sctp.SctpUser#onEstablished}; fails with {@link
     *     SctpConnectException}; cancelled, it ends the attempt
     */
    CompletableFuture<SctpAssociation> connect(
            SctpDestination destination, Duration timeout, SctpAssociationHandler handler);

    /** What happened so far. */
    SctpCounters counters();

    /** Aborts all associations, stops listening and gives the ports back. */
    CompletableFuture<Void> close();
}
