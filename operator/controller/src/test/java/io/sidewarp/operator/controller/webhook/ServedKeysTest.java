// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.https.HttpsListener;
import io.sidewarp.operator.controller.https.ServedKeys;
import io.sidewarp.operator.testing.TrustAll;
import java.io.IOException;
import java.io.StringWriter;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.junit.jupiter.api.Test;

class ServedKeysTest {
    private static final int HANDSHAKES = 200;
    private static final int LIMIT_SECONDS = 60;

    private static final OperatorConfig.Webhook SETTINGS =
            TestSettings.of(Map.of()).webhook();

    private final ServedKeys keys = new ServedKeys();

    @Test
    void noHandshakeFailsWhileTheCertificateIsReplaced() throws Exception {
        List<WebhookCertificate> certificates = List.of(made(), made(), made());
        serve(certificates.getFirst());
        try (HttpsListener server = WebhookServer.listener(SETTINGS, keys, (headers, review) -> review, () -> {})) {
            int port = server.start("127.0.0.1", 0);
            for (int i = 0; i < HANDSHAKES; i++) {
                WebhookCertificate next = certificates.get(i % certificates.size());
                CompletableFuture<Void> replaced = CompletableFuture.runAsync(() -> {
                    try {
                        serve(next);
                    } catch (IOException | GeneralSecurityException e) {
                        throw new IllegalStateException(e);
                    }
                });
                assertThat(served(port)).isIn(chains(certificates));
                replaced.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }

            WebhookCertificate last = made();
            serve(last);
            assertThat(served(port)).isEqualTo(last.chain().getFirst());
        }
    }

    /** A handshake chooses first, and asks for key and certificates later. */
    @Test
    void aHandshakeGoesOnWithTheCertificateThatItBeganWith() throws Exception {
        WebhookCertificate former = made();
        serve(former);
        String chosen = keys.chooseEngineServerAlias("EC", null, null);
        serve(made());

        assertThat(chosen).isNotNull();
        assertThat(keys.getPrivateKey(chosen)).isEqualTo(former.key());
        assertThat(keys.getCertificateChain(chosen)).containsExactlyElementsOf(former.chain());
        assertThat(keys.chooseEngineServerAlias("EC", null, null)).isNotEqualTo(chosen);
    }

    @Test
    void aKeyOfAnotherKindIsNotChosen() throws Exception {
        serve(made());

        assertThat(keys.chooseEngineServerAlias("RSA", null, null)).isNull();
    }

    /** cert-manager makes keys of the forms PKCS #1 and SEC 1, unless it is told otherwise. */
    @Test
    void keysOfOtherFormsAreTaken() throws Exception {
        PrivateKey rsa = KeyPairGenerator.getInstance("RSA").generateKeyPair().getPrivate();
        StringWriter pem = new StringWriter();
        try (JcaPEMWriter writer = new JcaPEMWriter(pem)) {
            writer.writeObject(rsa);
        }
        assertThat(pem.toString()).contains("BEGIN RSA PRIVATE KEY");
        assertThat(keyOf(pem.toString()).getEncoded()).isEqualTo(rsa.getEncoded());

        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        ECPrivateKey ec = (ECPrivateKey) generator.generateKeyPair().getPrivate();
        byte[] octets =
                new org.bouncycastle.asn1.sec.ECPrivateKey(256, ec.getS(), SECObjectIdentifiers.secp256r1).getEncoded();
        assertThat(keyOf(Pem.encode("EC PRIVATE KEY", octets)))
                .isInstanceOfSatisfying(
                        ECPrivateKey.class, key -> assertThat(key.getS()).isEqualTo(ec.getS()));
    }

    private static PrivateKey keyOf(String pem) throws IOException, GeneralSecurityException {
        return new WebhookCertificate("", pem, "").key();
    }

    @Test
    void anUnusableCertificateLeavesTheFormerOne() throws Exception {
        WebhookCertificate former = made();
        serve(former);

        assertThatThrownBy(() -> serve(new WebhookCertificate(former.certificate(), "", "")))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("tls.key has no private key");
        assertThatThrownBy(() -> serve(new WebhookCertificate("", former.privateKey(), "")))
                .isInstanceOf(CertificateException.class)
                .hasMessageContaining("tls.crt has no certificate");

        String chosen = keys.chooseEngineServerAlias("EC", null, null);
        assertThat(chosen).isNotNull();
        assertThat(keys.getPrivateKey(chosen)).isEqualTo(former.key());
    }

    private static WebhookCertificate made() {
        return CertificateMaker.make(List.of("localhost"), Instant.now(), Duration.ofHours(1), "");
    }

    private void serve(WebhookCertificate certificate) throws IOException, GeneralSecurityException {
        keys.serve(certificate.key(), certificate.chain());
    }

    private static List<X509Certificate> chains(List<WebhookCertificate> certificates)
            throws IOException, CertificateException {
        List<X509Certificate> all = new ArrayList<>();
        for (WebhookCertificate certificate : certificates) {
            all.addAll(certificate.chain());
        }
        return all;
    }

    private static X509Certificate served(int port) throws IOException, GeneralSecurityException {
        try (SSLSocket socket = TrustAll.connect(port)) {
            socket.startHandshake();
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }
}
