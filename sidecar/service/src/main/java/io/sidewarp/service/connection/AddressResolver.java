// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.Status;
import io.netty.util.NetUtil;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Parses and checks addresses from callers. */
final class AddressResolver {

    static final int MAX_PORT = 65_535;

    private AddressResolver() {}

    /** Returns the address that a caller wrote as an IP address; null for a name, which must be looked up. */
    static @Nullable InetAddress remote(String address, int port) {
        if (address.isEmpty()) {
            throw ApiError.invalid("address is empty; name the peer's host or IP address");
        }
        if (port < 1 || port > MAX_PORT) {
            throw ApiError.invalid("port", Integer.toUnsignedString(port), "1 to " + MAX_PORT);
        }
        return parsed("address", address);
    }

    /** Returns an address to listen at: an IP address of this host that the settings permit. */
    static InetSocketAddress local(String address, int port, SessionContext context) {
        if (port < 0 || port > MAX_PORT) {
            throw ApiError.invalid(
                    "port", Integer.toUnsignedString(port), "0 to " + MAX_PORT + ", 0 for any free port");
        }
        String permitted = context.config().connection().listenAddress().orElse("");
        if (address.isEmpty() && permitted.isEmpty()) {
            return new InetSocketAddress(port);
        }
        InetAddress wanted = literal("address", address.isEmpty() ? permitted : address);
        if (!permitted.isEmpty()) {
            InetAddress only = literal("sidewarp.connection.listen-address", permitted);
            if (!only.isAnyLocalAddress() && !only.equals(wanted)) {
                throw ApiError.of(
                        Status.Code.PERMISSION_DENIED,
                        "address is " + address + "; allowed here: " + permitted
                                + " (setting sidewarp.connection.listen-address)");
            }
        }
        return new InetSocketAddress(wanted, port);
    }

    private static InetAddress literal(String field, String address) {
        InetAddress literal = parsed(field, address);
        if (literal == null) {
            throw ApiError.invalid(field, "\"" + address + "\"", "an IP address, or nothing for all addresses");
        }
        return literal;
    }

    /** Returns the parsed IP address, or null if the text is none. */
    private static @Nullable InetAddress parsed(String field, String address) {
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(address);
        if (literal == null) {
            return null;
        }
        // The bytes of the address do not include the zone (RFC 4007 section 11).
        return address.indexOf('%') < 0 ? fromBytes(literal) : zoned(field, address);
    }

    private static InetAddress zoned(String field, String address) {
        try {
            return InetAddress.ofLiteral(address);
        } catch (IllegalArgumentException e) {
            throw ApiError.invalid(
                    field, "\"" + address + "\"", "after %, an interface of this pod with an address of this scope");
        }
    }

    private static InetAddress fromBytes(byte[] literal) {
        try {
            return InetAddress.getByAddress(literal);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }
}
