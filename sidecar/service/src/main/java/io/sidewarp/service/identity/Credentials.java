// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.verbs.SpiffeId;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Checks what a source delivers as no peer would accept it, and makes credentials of the rest. */
final class Credentials {

    /** Longest chain that peers with the JDK's TLS accept as a server. */
    static final int MAX_CHAIN = 8;
    /** Largest handshake message that peers with the JDK's TLS accept, less room for its other parts. */
    static final int MAX_CHAIN_OCTETS = 32_000;

    private Credentials() {}

    /**
     * Returns credentials.
     *
     * @throws IllegalArgumentException if peers would refuse them. The message says whose certificate, and what to do
     */
    static TlsCredentials of(
            PrivateKey key,
            List<X509Certificate> chain,
            Map<String, ? extends Collection<X509Certificate>> anchors,
            Clock clock) {
        requireShort(chain);
        TlsCredentials credentials;
        try {
            credentials = TlsCredentials.create(key, chain, anchors);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "the Java library refuses the key or a certificate: " + e.getMessage() + "; use keys of type EC or"
                            + " RSA",
                    e);
        }
        requireValid(credentials, clock.instant());
        return credentials;
    }

    /** Returns the SPIFFE ID of the first certificate. */
    static SpiffeId id(List<X509Certificate> chain) {
        X509Certificate leaf = chain.getFirst();
        return SpiffeId.of(leaf)
                .orElseThrow(() -> new IllegalArgumentException("the certificate (" + leaf.getSubjectX500Principal()
                        + ") has no SPIFFE ID; it needs exactly one URI as subject alternative name, as in"
                        + " spiffe://example.org/ns/shop/sa/cart"));
    }

    private static void requireShort(List<X509Certificate> chain) {
        if (chain.size() > MAX_CHAIN) {
            throw new IllegalArgumentException("the chain has " + chain.size() + " certificates, and peers accept "
                    + MAX_CHAIN + "; it needs only this side's certificate and those of intermediate CAs");
        }
        long octets = 0;
        try {
            for (X509Certificate certificate : chain) {
                octets += certificate.getEncoded().length;
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("a certificate cannot be encoded: " + e.getMessage(), e);
        }
        if (octets > MAX_CHAIN_OCTETS) {
            throw new IllegalArgumentException("the chain has " + octets + " bytes, and peers accept "
                    + MAX_CHAIN_OCTETS + "; use certificates with fewer or shorter names");
        }
    }

    private static void requireValid(TlsCredentials credentials, Instant now) {
        if (now.isBefore(credentials.validFrom())) {
            throw new IllegalArgumentException("the certificate of this side, " + credentials.id()
                    + ", is not valid before " + credentials.validFrom()
                    + "; set the clocks of this host and of its CA");
        }
        if (now.isAfter(credentials.expiry())) {
            throw new IllegalArgumentException("the certificate of this side, " + credentials.id() + ", expired at "
                    + credentials.expiry() + "; renew it, or set the clock of this host");
        }
    }
}
