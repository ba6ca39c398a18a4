// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.operator.controller.pki.Pki;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import org.bouncycastle.asn1.x500.X500Name;

/**
 * One CA of the controller. Its times follow from its own certificate, so that all replicas agree without a word:
 *
 * <pre>
 * 0            1/4            1/2            3/4             1   of the validity
 * | published   | signs                      | next one signs |
 * |             |              | next one is published        | expires, and leaves the bundle
 * </pre>
 *
 * <p>A certificate is valid for an eighth of the CA's validity at most. Sidecars renew within that time and learn the
 * bundle, so every peer knows a CA before the CA signs, and a CA outlives its certificates.
 */
record Authority(X509Certificate certificate, PrivateKey key) {
    private static final int PARTS = 4;
    private static final int PARTS_UNTIL_SUCCESSOR = 2;

    /** Creates a CA. Its name contains its serial number, so that no two CAs have the same name. */
    static Authority create(String trustDomain, Instant now, Duration validity) {
        KeyPair keys = CertificateBuilder.newKeys();
        BigInteger serial = CertificateBuilder.newSerial();
        X500Name name = new X500Name("O=Sidewarp,CN=Sidewarp identity CA " + serial.toString(16));
        X509Certificate certificate = new CertificateBuilder(keys.getPublic(), name)
                .authority()
                .serial(serial)
                .validity(now.minus(Pki.CLOCK_SKEW), now.plus(validity))
                .uri("spiffe://" + trustDomain)
                .selfSigned(keys.getPrivate());
        return new Authority(certificate, keys.getPrivate());
    }

    /** Returns when this CA was created and published. */
    Instant published() {
        return certificate.getNotBefore().toInstant().plus(Pki.CLOCK_SKEW);
    }

    Instant expiry() {
        return certificate.getNotAfter().toInstant();
    }

    boolean isExpired(Instant now) {
        return !now.isBefore(expiry());
    }

    /** Returns whether all peers have had time to learn of this CA. */
    boolean isKnown(Instant now) {
        return !now.isBefore(published().plus(validity().dividedBy(PARTS)));
    }

    /** Returns when the next CA must be published. */
    Instant successorDue() {
        return published().plus(validity().dividedBy(PARTS).multipliedBy(PARTS_UNTIL_SUCCESSOR));
    }

    private Duration validity() {
        return Duration.between(published(), expiry());
    }

    /** Returns a text without the key. */
    @Override
    public String toString() {
        return certificate.getSubjectX500Principal().getName();
    }
}
