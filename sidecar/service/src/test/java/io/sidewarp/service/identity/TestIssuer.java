// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import com.google.gson.JsonObject;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.service.testing.TestAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Stands in for the identity service of the controller. */
final class TestIssuer implements AutoCloseable {
    static final String ID = "spiffe://example.org/ns/shop/sa/cart";

    final List<String> tokens = new CopyOnWriteArrayList<>();
    final List<String> denials = new CopyOnWriteArrayList<>();
    final List<X509Certificate> issued = new CopyOnWriteArrayList<>();
    final List<PublicKey> keys = new CopyOnWriteArrayList<>();
    volatile int status = 200;
    volatile String refusal = "refused as tested\n";
    volatile Duration validity = Duration.ofHours(1);
    volatile TestAuthority signer;
    volatile List<X509Certificate> bundle;

    private final HttpsServer server;

    /** @param name DNS name in the certificate of the server */
    TestIssuer(int port, TestAuthority authority, String name) {
        signer = authority;
        bundle = List.of(authority.certificate());
        try {
            server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            server.setHttpsConfigurator(new HttpsConfigurator(context(authority, name)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/v1/certificates", this::answer);
        server.createContext("/v1/denials", this::takeDenials);
        server.start();
    }

    URI url() {
        return URI.create("https://localhost:" + port());
    }

    int port() {
        return server.getAddress().getPort();
    }

    private static SSLContext context(TestAuthority authority, String name) {
        TestAuthority.Leaf leaf = authority.sign(builder -> builder.dnsName(name));
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("server", leaf.key(), new char[0], new X509Certificate[] {leaf.certificate()});
            KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
            managers.init(store, new char[0]);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        tokens.add(exchange.getRequestHeaders().getFirst("Authorization"));
        String request = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.US_ASCII);
        byte[] body = (status == 200 ? issue(keyOf(request)) : refusal).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Connection", "close");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private void takeDenials(HttpExchange exchange) throws IOException {
        tokens.add(exchange.getRequestHeaders().getFirst("Authorization"));
        denials.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        exchange.getResponseHeaders().set("Connection", "close");
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    private String issue(PublicKey key) {
        keys.add(key);
        Instant now = Instant.now();
        X509Certificate certificate = new CertificateBuilder(key, "leaf")
                .uri(ID)
                .validity(now.minusSeconds(60), now.plus(validity))
                .signedBy(signer.certificate(), signer.key());
        issued.add(certificate);
        JsonObject json = new JsonObject();
        json.addProperty("certificate", Pem.encode(List.of(certificate)));
        json.addProperty("trustBundle", Pem.encode(bundle));
        return json.toString();
    }

    /** Returns the third element of a request's first element, which is the public key. */
    private static PublicKey keyOf(String pem) {
        byte[] request = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
        byte[] information = elements(content(ByteBuffer.wrap(request))).getFirst();
        byte[] key = elements(content(ByteBuffer.wrap(information))).get(2);
        try {
            return KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(key));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<byte[]> elements(ByteBuffer in) {
        List<byte[]> elements = new ArrayList<>();
        while (in.hasRemaining()) {
            int begin = in.position();
            content(in);
            byte[] element = new byte[in.position() - begin];
            in.get(begin, element);
            elements.add(element);
        }
        return elements;
    }

    /** Returns the content of a DER element, and skips it. */
    private static ByteBuffer content(ByteBuffer in) {
        in.get();
        int length = in.get() & 0xFF;
        if (length >= 0x80) {
            int octets = length & 0x7F;
            length = 0;
            for (int i = 0; i < octets; i++) {
                length = length << 8 | in.get() & 0xFF;
            }
        }
        ByteBuffer content = in.slice(in.position(), length);
        in.position(in.position() + length);
        return content;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
