// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A container registry with the part of the protocol that a push needs. It keeps digests and discards the pushed data.
 * No authority has signed its certificate.
 */
final class Registry implements AutoCloseable {
    private static final String PASSWORD = "changeit";

    private final HttpsServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, String> manifests = new ConcurrentHashMap<>();
    private final Map<String, String> uploads = new ConcurrentHashMap<>();
    private final Set<String> blobs = ConcurrentHashMap.newKeySet();
    private final AtomicInteger upload = new AtomicInteger();

    /** @param directory for its certificate */
    Registry(Path directory) throws IOException {
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls(directory.resolve("registry.p12"))));
        server.createContext("/v2/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    private static SSLContext tls(Path keyStore) throws IOException {
        String keytool = Path.of(System.getProperty("java.home"), "bin/keytool").toString();
        Process process = new ProcessBuilder(
                        keytool,
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-keystore",
                        keyStore.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!Files.exists(keyStore)) {
            throw new IOException(output);
        }
        try {
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(KeyStore.getInstance(keyStore.toFile(), PASSWORD.toCharArray()), PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** HOST:PORT. */
    String address() {
        return "localhost:" + server.getAddress().getPort();
    }

    /** Digests of what was pushed as manifests, by name and tag: {@code sidewarp/sidecar/manifests/1.0}. */
    Map<String, String> manifests() {
        return manifests;
    }

    /** Digests of layers and configurations. */
    Set<String> blobs() {
        return blobs;
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath().substring("/v2/".length());
        String digest = digest(exchange);
        try (exchange) {
            switch (exchange.getRequestMethod()) {
                case "HEAD" -> respond(exchange, blobs.contains(path.replaceAll(".*/", "")) ? 200 : 404);
                case "POST" -> accept(exchange, path + "/" + upload.incrementAndGet());
                case "PATCH" -> {
                    uploads.put(path, digest);
                    accept(exchange, path);
                }
                case "PUT" -> {
                    if (path.contains("/manifests/")) {
                        manifests.put(path, digest);
                    } else {
                        blobs.add(uploads.remove(path));
                    }
                    respond(exchange, 201);
                }
                default -> respond(exchange, 200);
            }
        }
    }

    private static void accept(HttpExchange exchange, String location) throws IOException {
        exchange.getResponseHeaders().set("Location", "/v2/" + location);
        respond(exchange, 202);
    }

    private static void respond(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
    }

    private static String digest(HttpExchange exchange) throws IOException {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update(exchange.getRequestBody().readAllBytes());
            return "sha256:" + HexFormat.of().formatHex(sha256.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
