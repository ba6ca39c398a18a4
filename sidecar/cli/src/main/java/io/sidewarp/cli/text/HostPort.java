// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import picocli.CommandLine;

/**
 * An iWARP endpoint: {@code host:port}, {@code [IPv6]:port}, or only the port for listening.
 *
 * @param host name or IP address; empty for all addresses
 * @param port 0 to 65535
 */
public record HostPort(String host, int port) {

    /** Reads an endpoint to connect to. */
    public static final class Converter implements CommandLine.ITypeConverter<HostPort> {
        @Override
        public HostPort convert(String value) {
            return convertWith(value, false);
        }
    }

    /** Reads an endpoint to listen at. The host may be missing, and the port may be 0. */
    public static final class ListenConverter implements CommandLine.ITypeConverter<HostPort> {
        @Override
        public HostPort convert(String value) {
            return convertWith(value, true);
        }
    }

    /** @throws IllegalArgumentException when the text is not an endpoint */
    public static HostPort parse(String text, boolean listen) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw refused(text, "an IPv6 address needs brackets, such as [::1]:7471", listen);
        }
        String digits = text.substring(colon + 1);
        boolean number =
                !digits.isEmpty() && digits.length() <= 5 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!listen && host.isEmpty()) {
            throw refused(text, colon < 0 && !number ? "the port is missing" : "the host is missing", false);
        }
        if (!number) {
            throw refused(text, "the port is not a number", listen);
        }
        int port = Integer.parseInt(digits);
        if (port > 0xFFFF || (port == 0 && !listen)) {
            throw refused(text, "the port is not between " + (listen ? 0 : 1) + " and 65535", listen);
        }
        return new HostPort(host, port);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    private static HostPort convertWith(String value, boolean listen) {
        try {
            return parse(value, listen);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.TypeConversionException(e.getMessage());
        }
    }

    private static IllegalArgumentException refused(String text, String why, boolean listen) {
        return new IllegalArgumentException(
                "\"" + text + "\" is not " + (listen ? "[HOST:]PORT" : "HOST:PORT") + ": " + why);
    }
}
