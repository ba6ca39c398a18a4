// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.controller.pki.Pki;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.ExtensionsGenerator;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequestBuilder;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequestBuilder;

/** Client of the identity service that verifies its certificate and its name. */
final class IdentityClient {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final HttpClient http;
    private final String url;

    IdentityClient(int port, String bundle) throws Exception {
        this.url = "https://localhost:" + port;
        this.http = HttpClient.newBuilder()
                .sslContext(trusting(bundle))
                .connectTimeout(LIMIT)
                .build();
    }

    static SSLContext trusting(String bundle) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        for (X509Certificate certificate : Pki.certificates(bundle)) {
            store.setCertificateEntry(certificate.getSerialNumber().toString(), certificate);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    /** Returns a signing request in PEM that asks for a host name and another SPIFFE ID. */
    static String request(KeyPair keys) throws IOException, OperatorCreationException {
        ExtensionsGenerator wishes = new ExtensionsGenerator();
        wishes.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(new GeneralName[] {
            new GeneralName(GeneralName.dNSName, "localhost"),
            new GeneralName(GeneralName.uniformResourceIdentifier, "spiffe://cluster.local/ns/kube-system/sa/root")
        }));
        PKCS10CertificationRequestBuilder builder =
                new JcaPKCS10CertificationRequestBuilder(new X500Name("CN=localhost"), keys.getPublic());
        builder.addAttribute(PKCSObjectIdentifiers.pkcs_9_at_extensionRequest, wishes.generate());
        String algorithm = keys.getPrivate().getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA";
        return Pem.encode(
                "CERTIFICATE REQUEST",
                builder.build(new JcaContentSignerBuilder(algorithm).build(keys.getPrivate()))
                        .getEncoded());
    }

    HttpResponse<String> post(String token, String request) throws IOException, InterruptedException {
        return post(IdentityServer.CERTIFICATES, token, request);
    }

    HttpResponse<String> post(String path, String token, String request) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(URI.create(url + path))
                        .timeout(LIMIT)
                        .header("Authorization", "Bearer " + token)
                        .POST(HttpRequest.BodyPublishers.ofString(request, StandardCharsets.US_ASCII))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(URI.create(url + path)).timeout(LIMIT).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    static JsonNode json(HttpResponse<String> response) throws IOException {
        return new ObjectMapper().readTree(response.body());
    }

    static X509Certificate certificate(HttpResponse<String> response) throws IOException, GeneralSecurityException {
        List<X509Certificate> chain =
                Pki.certificates(json(response).get("certificate").asText());
        return chain.getFirst();
    }
}
