// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.x509;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PemTest {

    private static final KeyPair KEYS = CertificateBuilder.newKeys();
    private static final X509Certificate CERTIFICATE =
            new CertificateBuilder(KEYS.getPublic(), "one").selfSigned(KEYS.getPrivate());

    @Test
    void certificatesAndKeyOfOneTextAreRead() {
        String text = "Bag Attributes\n" + Pem.encode(KEYS.getPrivate()) + "subject=one\n"
                + Pem.encode(List.of(CERTIFICATE, CERTIFICATE)).replace("\n", "\r\n");

        assertThat(Pem.certificates(text)).containsExactly(CERTIFICATE, CERTIFICATE);
        assertThat(Pem.privateKey(text)).isEqualTo(KEYS.getPrivate());
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519"})
    void keyOfEachAlgorithmIsRead(String algorithm) throws Exception {
        KeyPair keys = KeyPairGenerator.getInstance(algorithm).generateKeyPair();

        assertThat(Pem.privateKey(Pem.encode(keys.getPrivate())).getEncoded())
                .isEqualTo(keys.getPrivate().getEncoded());
    }

    @ParameterizedTest
    @CsvSource({
        "RSA PRIVATE KEY, not in PKCS #8 but a block RSA PRIVATE KEY; convert it",
        "EC PRIVATE KEY, not in PKCS #8 but a block EC PRIVATE KEY; convert it",
        "ENCRYPTED PRIVATE KEY, is encrypted; store it without a password",
        "PRIVATE KEY, 'is damaged, or not an EC, RSA or Ed25519 key'",
    })
    void keyOfAnotherFormatIsRefusedWithRemedy(String type, String message) {
        assertThatThrownBy(() -> Pem.privateKey(Pem.encode(type, new byte[] {1, 2, 3})))
                .hasMessageContaining(message);
    }

    @Test
    void halfTextSaysThatItIsCutOff() {
        String text = Pem.encode(List.of(CERTIFICATE));

        assertThatThrownBy(() -> Pem.certificates(text.substring(0, text.length() / 2)))
                .hasMessageContaining("cut off, or still being written");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no PEM", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"})
    void textWithoutCertificateSaysSo(String text) {
        assertThatThrownBy(() -> Pem.certificates(text)).hasMessageContaining("there is no certificate");
    }

    @Test
    void certificatesInDerAreReadOneAfterTheOther() throws Exception {
        byte[] one = CERTIFICATE.getEncoded();
        byte[] two = Arrays.copyOf(one, 2 * one.length);
        System.arraycopy(one, 0, two, one.length, one.length);

        assertThat(Pem.derCertificates(two)).containsExactly(CERTIFICATE, CERTIFICATE);
        assertThat(Pem.derCertificates(new byte[0])).isEmpty();
        assertThatThrownBy(() -> Pem.derCertificates(Arrays.copyOf(two, two.length - 1)))
                .hasMessageContaining("a certificate is damaged");
    }

    @Test
    void damagedCertificateSaysSo() {
        assertThatThrownBy(() -> Pem.certificates(Pem.encode("CERTIFICATE", new byte[] {1, 2, 3})))
                .hasMessageContaining("a certificate is damaged");
    }
}
