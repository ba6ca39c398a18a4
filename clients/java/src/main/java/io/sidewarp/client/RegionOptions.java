// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;

/**
 * Options of a region, except its backing. Immutable; the {@code with} methods return changed copies.
 *
 * @param access access rights; empty: no remote access and no local writing
 * @param baseTaggedOffset tagged offset of the first byte; unsigned
 * @param protectionDomain 0: the session's default
 * @param connection 0: all connections of the protection domain may use the region. Otherwise the only connection that
 *     may use it, which must belong to that domain.
 * @param peerIdentity SPIFFE ID that the peer of a connection must have to use the region; empty for every peer
 */
public record RegionOptions(
        List<Access> access, long baseTaggedOffset, long protectionDomain, long connection, String peerIdentity) {

    public RegionOptions {
        access = List.copyOf(access);
    }

    /** Returns options with the given rights, and defaults for the other options. */
    public static RegionOptions of(Access... access) {
        return new RegionOptions(List.of(access), 0, 0, 0, "");
    }

    /** Returns a copy with another tagged offset of the first byte. */
    public RegionOptions withBaseTaggedOffset(long value) {
        return new RegionOptions(access, value, protectionDomain, connection, peerIdentity);
    }

    public RegionOptions withProtectionDomain(ProtectionDomain value) {
        return new RegionOptions(access, baseTaggedOffset, value.id(), connection, peerIdentity);
    }

    /**
     * Returns a copy for a region that only one connection may use. The connection must belong to the same protection
     * domain.
     */
    public RegionOptions withConnection(Connection value) {
        return new RegionOptions(access, baseTaggedOffset, protectionDomain, value.id(), peerIdentity);
    }

    /** Returns a copy for a region that only peers with this SPIFFE ID may use, as TLS has verified it. */
    public RegionOptions withPeerIdentity(String value) {
        return new RegionOptions(access, baseTaggedOffset, protectionDomain, connection, value);
    }
}
