// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.ChannelException;
import io.sidewarp.engine.net.SystemErrors;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Explains why there is no TCP connection: what the operating system said, and what to do. */
final class TcpFailure {

    private static final String BROADCAST = "255.255.255.255";

    private TcpFailure() {}

    /** @param failures of a peer's addresses, at least one, as {@link io.sidewarp.engine.net.TcpRace} tells them */
    static String describe(Map<InetSocketAddress, Throwable> failures) {
        String each = failures.entrySet().stream()
                .map(failure -> describe(failure.getKey(), failure.getValue()))
                .collect(Collectors.joining("; "));
        return failures.size() == 1
                ? each
                : "none of the " + failures.size() + " addresses of the name is reached: " + each;
    }

    /** @param failure as {@link io.sidewarp.engine.net.TcpConnector} tells it */
    static String describe(InetSocketAddress remote, Throwable failure) {
        // Finds the operating system's error below Netty's exceptions, which repeat the address or say nothing.
        Throwable said = failure;
        while (said.getCause() != null) {
            said = said.getCause();
        }
        String advice = failure instanceof ChannelException
                ? "there is no socket for it: let this process have more open files"
                : advice(remote.getAddress(), said);
        return "no TCP connection to " + remote + ": " + reason(said) + "; " + advice;
    }

    /** Returns the reason. Netty has no message for some errors, only a type. */
    private static String reason(Throwable said) {
        if (said.getMessage() != null) {
            return SystemErrors.text(said);
        }
        return said instanceof NoRouteToHostException ? "the network or the host is unreachable" : said.toString();
    }

    private static String advice(@Nullable InetAddress address, Throwable said) {
        if (address == null) {
            return "check the name";
        }
        if (address.isMulticastAddress() || address.getHostAddress().equals(BROADCAST)) {
            return "TCP connects to one host, and this address is one of many: give the peer's own";
        }
        if (address.isAnyLocalAddress()) {
            return "this address is no host's own, and connects to this host: give the peer's own, and check that it"
                    + " listens";
        }
        if (address instanceof Inet6Address scoped && scoped.isLinkLocalAddress() && scoped.getScopeId() == 0) {
            return "an address of a link needs the interface to it, as in fe80::1%eth0";
        }
        return said instanceof NoRouteToHostException
                ? "check the address, and the routes and firewalls on the way to it"
                : "check the address and that the peer listens";
    }
}
