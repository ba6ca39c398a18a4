// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.operator.controller.pki.Pki;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;

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
        try {
            KeyPair keys = CertificateBuilder.newKeys();
            var serial = Pki.serial();
            X500Name name = new X500Name("O=Sidewarp,CN=Sidewarp identity CA " + serial.toString(16));
            X509v3CertificateBuilder root = new JcaX509v3CertificateBuilder(
                    name,
                    serial,
                    Date.from(now.minus(Pki.CLOCK_SKEW)),
                    Date.from(now.plus(validity)),
                    name,
                    keys.getPublic());
            root.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
            root.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
            root.addExtension(
                    Extension.subjectKeyIdentifier,
                    false,
                    new JcaX509ExtensionUtils().createSubjectKeyIdentifier(keys.getPublic()));
            root.addExtension(
                    Extension.subjectAlternativeName,
                    false,
                    new GeneralNames(
                            new GeneralName(GeneralName.uniformResourceIdentifier, "spiffe://" + trustDomain)));
            return new Authority(Pki.sign(root, keys.getPrivate()), keys.getPrivate());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("cannot create a CA for the trust domain " + trustDomain, e);
        }
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
