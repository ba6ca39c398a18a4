// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.ChannelException;
import io.sidewarp.engine.net.SystemErrors;
import io.sidewarp.engine.net.TcpConnector;
import io.sidewarp.engine.net.TcpRace;
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

    /** @param failures of a peer's addresses, at least one, as {@link TcpRace} tells them */
    static String describe(Map<InetSocketAddress, Throwable> failures) {
        String each = failures.entrySet().stream()
                .map(failure -> describe(failure.getKey(), failure.getValue()))
                .collect(Collectors.joining("; "));
        return failures.size() == 1
                ? each
                : "none of the " + failures.size() + " addresses of the name is reached: " + each;
    }

    /** @param failure as {@link TcpConnector} tells it */
    static String describe(InetSocketAddress remote, Throwable failure) {
        // Finds the operating system's error below Netty's exceptions, which repeat the address or say nothing.
        Throwable said = failure;
        while (said.getCause() != null) {
            said = said.getCause();
        }
        String advice = failure instanceof ChannelException
                ? "no socket is available: raise this process's limit of open files"
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
            return "TCP connects to one host, and this address names many: use the peer's own address";
        }
        if (address.isAnyLocalAddress()) {
            return "a wildcard address connects to this host: use the peer's own address, and check that the peer"
                    + " listens";
        }
        if (address instanceof Inet6Address scoped && scoped.isLinkLocalAddress() && scoped.getScopeId() == 0) {
            return "a link-local address needs the interface, as in fe80::1%eth0";
        }
        return said instanceof NoRouteToHostException
                ? "check the address, and the routes and firewalls on the way to it"
                : "check the address and that the peer listens";
    }
}
