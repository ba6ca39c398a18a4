// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import java.net.InetAddress;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/** An SCTP implementation with its input and output. */
public interface SctpStack {

    /** Returns whether the stack carries packets in UDP, so that endpoints and destinations have UDP ports. */
    boolean isInUdp();

    /**
     * Opens an endpoint.
     *
     * @param loop one of the given loops; will own the endpoint and all its associations
     * @param local addresses to bind to, no wildcard; by default one (RFC 5043 section 7.2)
     * @param adaptation Adaptation Layer Indication of all its INIT and INIT-ACK chunks, or none
     * @return fails with {@link java.net.BindException} when this machine does not have an address. Fails with
     *     {@link IllegalArgumentException} when the stack cannot bind to that many addresses.
     */
    CompletableFuture<SctpEndpoint> open(
            EngineLoops loops, EventLoop loop, List<InetAddress> local, OptionalInt adaptation, SctpSettings settings);
}
