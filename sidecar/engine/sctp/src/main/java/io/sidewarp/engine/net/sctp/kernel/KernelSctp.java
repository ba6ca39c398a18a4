// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpStack;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * The SCTP of the Linux kernel, directly on IP. Endpoints and destinations may have several addresses: an association
 * then continues over another path when the current path is lost (RFC 9260 section 6.4).
 *
 * <p>The stack ignores the UDP ports of settings and destinations. A kernel that is configured to encapsulate
 * (net.sctp.udp_port, net.sctp.encap_port) does so by itself.
 */
public final class KernelSctp implements SctpStack {

    private KernelSctp() {}

    /**
     * Returns the kernel's stack.
     *
     * @throws SctpUnavailableException when this kernel has no SCTP, or this process may not use it
     */
    public static KernelSctp load() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment callState = NativeFunction.newCallState(arena);
            int socket = KernelSocket.create(callState, KernelConstants.AF_INET);
            if (socket < 0) {
                throw SctpErrors.unavailable(socket);
            }
            SystemCalls.CLOSE.call(callState, socket);
        }
        return new KernelSctp();
    }

    @Override
    public boolean isInUdp() {
        return false;
    }

    @Override
    public CompletableFuture<SctpEndpoint> open(
            EngineLoops loops, EventLoop loop, List<InetAddress> local, OptionalInt adaptation, SctpSettings settings) {
        if (local.isEmpty() || local.stream().anyMatch(InetAddress::isAnyLocalAddress)) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "an endpoint needs at least one address, and no wildcard, not " + local));
        }
        return KernelEndpoint.open(loops, loop, local, adaptation, settings);
    }
}
