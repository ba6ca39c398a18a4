// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

/**
 * Reason why a connection with TLS ended.
 *
 * @param message text for people: whose fault it is, and what to do
 */
public record TlsFailure(Kind kind, String message) {

    /** Kind of a failure. */
    public enum Kind {
        /** The peer answered nothing, or something else than TLS. It may be a peer without TLS. */
        NOT_TLS,
        /** One side does not accept the certificate of the other side. */
        CERTIFICATE,
        /** The peer speaks TLS, but breaks its rules or wants something else. */
        PROTOCOL,
        /** The TCP connection ended before the TLS stream did. */
        TRUNCATED,
        /** This side reached a limit. */
        LIMIT
    }
}
