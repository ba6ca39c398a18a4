// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.net.InetAddress;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Associations of an endpoint whose peers have not returned the cookie. A flood of INITs evicts the oldest of them.
 *
 * <p>A flood from a single address evicts only associations of this address: one address may hold at most as many as it
 * leaves free for others.
 */
final class HalfOpenAssociations {

    private final int most;
    private final LinkedHashSet<UdpAssociation> all = new LinkedHashSet<>();
    private final Map<InetAddress, LinkedHashSet<UdpAssociation>> byAddress = new HashMap<>();

    HalfOpenAssociations(int most) {
        this.most = most;
    }

    int size() {
        return all.size();
    }

    /** Returns the association that has been half open for the longest time. */
    @Nullable
    UdpAssociation oldest() {
        return first(all);
    }

    /** Returns the association to evict before the address can have another one. Null when no association has to go. */
    @Nullable
    UdpAssociation inTheWayOf(InetAddress address) {
        Collection<UdpAssociation> own = byAddress.get(address);
        if (own != null && own.size() + 1 >= most - all.size()) {
            return first(own);
        }
        return all.size() < most ? null : oldest();
    }

    private static @Nullable UdpAssociation first(Collection<UdpAssociation> associations) {
        return associations.isEmpty() ? null : associations.iterator().next();
    }

    void add(UdpAssociation association) {
        all.add(association);
        byAddress
                .computeIfAbsent(association.key().address(), address -> new LinkedHashSet<>())
                .add(association);
    }

    /** Removes an association: the peer returned the cookie, or the association is over. */
    void remove(UdpAssociation association) {
        if (all.remove(association)) {
            byAddress.computeIfPresent(association.key().address(), (address, own) -> {
                own.remove(association);
                return own.isEmpty() ? null : own;
            });
        }
    }
}
