// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.bouncycastle.pkcs.PKCSException;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequest;

/**
 * Reads certificate signing requests (PKCS #10, RFC 2986) in PEM. Only the public key counts. Subject and requested
 * extensions are ignored.
 */
final class SigningRequest {
    private static final int KEY_BITS = 256;

    private SigningRequest() {}

    /**
     * Returns the public key, whose owner has signed the request.
     *
     * @throws IllegalArgumentException if the request is invalid, with what is allowed
     */
    static PublicKey keyOf(byte[] pem) {
        try (PEMParser parser = new PEMParser(new StringReader(new String(pem, StandardCharsets.US_ASCII)))) {
            if (!(parser.readObject() instanceof PKCS10CertificationRequest request)) {
                throw new IllegalArgumentException("the body is no certificate signing request in PEM (PKCS #10)");
            }
            PublicKey key = new JcaPKCS10CertificationRequest(request).getPublicKey();
            if (!(key instanceof ECPublicKey elliptic)
                    || elliptic.getParams().getOrder().bitLength() != KEY_BITS) {
                throw new IllegalArgumentException("the key of the request is " + key.getAlgorithm()
                        + " of another size or curve; allowed: EC of the curve P-256");
            }
            if (!request.isSignatureValid(new JcaContentVerifierProviderBuilder().build(key))) {
                throw new IllegalArgumentException("the signature of the request does not fit its key");
            }
            return key;
        } catch (IOException | GeneralSecurityException | PKCSException | OperatorCreationException e) {
            throw new IllegalArgumentException("the certificate signing request is damaged", e);
        } catch (IllegalArgumentException e) {
            throw e;
        } catch (RuntimeException e) {
            // Bouncy Castle reports some damages so.
            throw new IllegalArgumentException("the certificate signing request is damaged", e);
        }
    }
}
