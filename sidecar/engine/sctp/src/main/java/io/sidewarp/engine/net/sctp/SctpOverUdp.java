// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import java.net.InetAddress;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * SCTP in user space, in UDP (RFC 6951). Each endpoint has one UDP socket, which all its associations share. Endpoints
 * and destinations have one address each.
 */
public final class SctpOverUdp implements SctpStack {

    private final SctpProtocol protocol;

    public SctpOverUdp(SctpProtocol protocol) {
        this.protocol = protocol;
    }

    @Override
    public boolean isInUdp() {
        return true;
    }

    @Override
    public CompletableFuture<SctpEndpoint> open(
            EngineLoops loops, EventLoop loop, List<InetAddress> local, OptionalInt adaptation, SctpSettings settings) {
        if (local.size() != 1 || local.getFirst().isAnyLocalAddress()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "SCTP in UDP binds to one address, and not to a wildcard: name one of " + local));
        }
        return UdpEndpoint.open(protocol, loops, loop, local.getFirst(), adaptation, settings);
    }
}
