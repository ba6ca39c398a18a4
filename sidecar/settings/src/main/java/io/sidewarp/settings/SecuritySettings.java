// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.sidewarp.engine.verbs.PeerPattern;
import io.sidewarp.engine.verbs.TlsUse;
import java.util.List;

/** Security of connections that follows from several settings. Legal after {@link ConfigValidator} found no problems. */
public final class SecuritySettings {

    private static final String TLS = "TLS";

    private SecuritySettings() {}

    /** Returns the security of connections for which a caller does not say. */
    public static TlsUse byDefault(SidewarpConfig.Connection connection) {
        TlsUse ofPeers = hasPeers(connection) ? TlsUse.PREFERRED : TlsUse.PLAIN;
        return stricter(connection.security(), stricter(ofPeers, least(connection)));
    }

    /** Returns the weakest security that callers may ask for. */
    public static TlsUse least(SidewarpConfig.Connection connection) {
        return hasPeers(connection) && !connection.plainPeers() ? TlsUse.REQUIRED : TlsUse.PLAIN;
    }

    /**
     * Returns whether TLS replaces CRCs in connections with TLS, by the administrator's explicit word (RFC 5044 section
     * 4.4).
     */
    public static boolean tlsReplacesCrc(SidewarpConfig.Connection connection) {
        return connection
                .integrityProtection()
                .filter(protection -> protection.strip().equalsIgnoreCase(TLS))
                .isPresent();
    }

    /** Returns the patterns of peers that may connect to listeners. Empty: each peer. */
    public static List<PeerPattern> peers(SidewarpConfig.Connection connection) {
        return connection.peers().orElse(List.of()).stream()
                .map(pattern -> PeerPattern.parse(pattern.strip()))
                .toList();
    }

    private static boolean hasPeers(SidewarpConfig.Connection connection) {
        return !connection.peers().orElse(List.of()).isEmpty();
    }

    private static TlsUse stricter(TlsUse one, TlsUse other) {
        return one.isWeakerThan(other) ? other : one;
    }
}
