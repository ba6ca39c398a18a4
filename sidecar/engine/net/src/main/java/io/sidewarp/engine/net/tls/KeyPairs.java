// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;

/** Checks that a private key belongs to a certificate. */
final class KeyPairs {

    private static final byte[] PROBE = {1, 2, 3, 4};

    private KeyPairs() {}

    /** @throws IllegalArgumentException if the key does not belong to the certificate */
    static void requireMatch(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        String algorithm = switch (key.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            case "EdDSA", "Ed25519" -> "Ed25519";
            default ->
                throw new IllegalArgumentException(
                        "the private key is of type " + key.getAlgorithm() + "; use an EC, RSA or Ed25519 key");
        };
        boolean match;
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(PROBE);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(PROBE);
            match = signature.verify(signed);
        } catch (InvalidKeyException e) {
            match = false;
        }
        if (!match) {
            throw new IllegalArgumentException("the private key does not belong to the certificate of "
                    + certificate.getSubjectX500Principal() + "; take both from the same source");
        }
    }
}
