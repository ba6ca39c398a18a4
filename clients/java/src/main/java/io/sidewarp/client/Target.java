// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.nio.file.Path;

/** Address of a sidecar, as written in SIDEWARP_API. */
sealed interface Target {

    /** A Unix socket. */
    record Unix(Path path) implements Target {}

    /** A TCP port, on loopback unless the administrator decided otherwise. */
    record Tcp(String host, int port) implements Target {}

    /**
     * Parses the text of an address.
     *
     * @throws IllegalArgumentException if the text is neither {@code unix:PATH} nor {@code host:port}
     */
    static Target parse(String text) {
        if (text.startsWith("unix:")) {
            String path = text.substring("unix:".length());
            if (path.startsWith("//")) {
                path = path.substring(2);
                if (!path.startsWith("/")) {
                    throw refused(text, "unix:// wants an absolute path, so three slashes");
                }
            }
            if (path.isEmpty()) {
                throw refused(text, "the path of the socket is missing");
            }
            return new Unix(Path.of(path));
        }
        int colon = text.lastIndexOf(':');
        if (colon <= 0 || text.contains("/")) {
            throw refused(text, "neither a Unix socket nor host and port");
        }
        String host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.contains(":")) {
            throw refused(text, "an IPv6 address needs brackets");
        }
        return new Tcp(host, port(text, text.substring(colon + 1)));
    }

    private static int port(String text, String digits) {
        try {
            int port = Integer.parseInt(digits);
            if (port > 0 && port <= 0xFFFF) {
                return port;
            }
        } catch (NumberFormatException e) {
            throw (IllegalArgumentException)
                    refused(text, "the port is not a number").initCause(e);
        }
        throw refused(text, "the port is not between 1 and 65535");
    }

    private static IllegalArgumentException refused(String text, String why) {
        return new IllegalArgumentException("cannot use \"" + text + "\" as a sidecar's address: " + why
                + "; write unix:///run/sidewarp/api.sock or localhost:7470");
    }
}
