// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.function.Predicate;

/**
 * Policy of a listener or connection about TLS and the identity of peers.
 *
 * @param peers decides whether an authenticated peer is permitted. A listener asks before the application gets the
 *     peer's private data, and an initiator asks before it sends private data. Called on an event loop, so it must not
 *     block. Not called for a peer without TLS
 * @param tlsReplacesCrc whether this side can do without CRCs in a connection with TLS. They are off only if both sides
 *     can, and no side requires them. Only the administrator may choose this (RFC 5044 section 4.4)
 */
public record SecurityPolicy(TlsUse security, Predicate<PeerIdentity> peers, boolean tlsReplacesCrc) {

    /** Policy without TLS. */
    public static final SecurityPolicy PLAIN = of(TlsUse.PLAIN);

    /** Returns a policy that permits each authenticated peer, and keeps CRCs. */
    public static SecurityPolicy of(TlsUse security) {
        return new SecurityPolicy(security, peer -> true, false);
    }

    public SecurityPolicy withPeers(Predicate<PeerIdentity> permitted) {
        return new SecurityPolicy(security, permitted, tlsReplacesCrc);
    }

    public SecurityPolicy withTlsReplacesCrc(boolean replaces) {
        return new SecurityPolicy(security, peers, replaces);
    }
}
