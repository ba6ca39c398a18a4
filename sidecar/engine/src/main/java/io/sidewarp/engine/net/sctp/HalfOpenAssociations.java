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
 * The associations of an endpoint whose peers have not returned the cookie. A flood of INITs shortens their lives; one that
 * comes from one address shortens those of that address only, which has no more of them than it leaves to the others.
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

    /** The one that is there for the longest time. */
    @Nullable
    UdpAssociation oldest() {
        return first(all);
    }

    /** The one that has to go before that address can have a further one. */
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

    /** The peer returned the cookie, or it is over. */
    void remove(UdpAssociation association) {
        if (all.remove(association)) {
            byAddress.computeIfPresent(association.key().address(), (address, own) -> {
                own.remove(association);
                return own.isEmpty() ? null : own;
            });
        }
    }
}
