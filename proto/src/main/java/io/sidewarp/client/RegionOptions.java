// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;

/**
 * What is asked of a region beyond its backing. Immutable; the {@code with} methods return changed copies.
 *
 * @param access rights; empty: no remote access and no local writing
 * @param baseTaggedOffset tagged offset of the first octet; unsigned
 * @param protectionDomain 0: the session's default
 * @param connection 0: all connections of the protection domain may use the region; else only this one, which is of that
 *     domain too
 */
public record RegionOptions(List<Access> access, long baseTaggedOffset, long protectionDomain, long connection) {

    public RegionOptions {
        access = List.copyOf(access);
    }

    /** The given rights, and defaults for all else. */
    public static RegionOptions of(Access... access) {
        return new RegionOptions(List.of(access), 0, 0, 0);
    }

    /** Tagged offset of the first octet. */
    public RegionOptions withBaseTaggedOffset(long value) {
        return new RegionOptions(access, value, protectionDomain, connection);
    }

    public RegionOptions withProtectionDomain(ProtectionDomain value) {
        return new RegionOptions(access, baseTaggedOffset, value.id(), connection);
    }

    /** Only this connection may use the region. It has to be of the same protection domain. */
    public RegionOptions withConnection(Connection value) {
        return new RegionOptions(access, baseTaggedOffset, protectionDomain, value.id());
    }
}
