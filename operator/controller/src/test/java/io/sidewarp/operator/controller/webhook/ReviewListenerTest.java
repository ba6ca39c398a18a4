// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.http.HttpHeaders;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.https.HttpsListener;
import io.sidewarp.operator.controller.https.ServedKeys;
import io.sidewarp.operator.testing.TrustAll;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the webhook with clients that use too many resources. */
class ReviewListenerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int CONNECTIONS = 3;
    private static final int HALF_BODY = 3 << 20;
    private static final byte[] LONG_ANSWER = new byte[64 << 20];

    private final ServedKeys keys = new ServedKeys();
    private final AtomicInteger reviews = new AtomicInteger();
    private final AtomicInteger cutOff = new AtomicInteger();
    private final Semaphore mayDecide = new Semaphore(0);
    private HttpsListener listener;
    private int port;

    @AfterEach
    void stop() {
        mayDecide.release(CONNECTIONS);
        listener.close();
    }

    @Test
    void oneConnectionMoreThanThereMayBeTakesThePlaceOfTheOneThatWaitsLongest() throws Exception {
        start((headers, review) -> review, Map.of());
        try (Socket oldest = connect();
                Socket other = connect();
                SSLSocket third = TrustAll.connect(port);
                SSLSocket fourth = TrustAll.connect(port)) {
            assertThat(ask(third, "third")).endsWith("third");
            assertThat(ask(fourth, "fourth")).endsWith("fourth");

            assertThat(isCutOff(oldest)).isTrue();
            assertThat(ask(third, "again")).endsWith("again");
            try (SSLSocket fifth = TrustAll.connect(port)) {
                assertThat(ask(fifth, "fifth")).endsWith("fifth");
                assertThat(isCutOff(other)).isTrue();
                assertThat(cutOff).hasValue(2);
            }
        }
    }

    @Test
    void aConnectionWhoseReviewIsDecidedAboutGivesItsPlaceToNobody() throws Exception {
        start(this::decideWhenAllowed, Map.of("sidewarp.operator.webhook.connections", "1"));
        try (SSLSocket client = TrustAll.connect(port)) {
            send(client, "asked");
            await().atMost(LIMIT).until(() -> reviews.get() == 1);

            try (Socket refused = connect()) {
                assertThat(isCutOff(refused)).isTrue();
            }
            mayDecide.release();
            assertThat(answer(client)).endsWith("asked");
        }
    }

    @Test
    void bodiesThatAreNotCompleteMakeRoomForAReview() throws Exception {
        start((headers, review) -> review, Map.of("sidewarp.operator.webhook.pending-octets", "8388608"));
        try (SSLSocket oldest = TrustAll.connect(port);
                SSLSocket other = TrustAll.connect(port);
                SSLSocket client = TrustAll.connect(port)) {
            sendHalf(oldest);
            sendHalf(other);
            String review = " ".repeat(HALF_BODY) + "review";

            assertThat(ask(client, review)).endsWith(review);
            assertThat(isCutOff(oldest)).isTrue();
        }
    }

    @Test
    void aRequestThatDoesNotArriveInItsTimeIsCutOffHoweverOftenAnOctetComes() throws Exception {
        start((headers, review) -> review, Map.of("sidewarp.operator.webhook.request-timeout", "500ms"));
        try (Socket silent = connect();
                SSLSocket slow = TrustAll.connect(port)) {
            slow.getOutputStream().write(head(HALF_BODY));

            await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(() -> {
                try {
                    slow.getOutputStream().write(' ');
                    return false;
                } catch (IOException e) {
                    return true;
                }
            });
            assertThat(isCutOff(silent)).isTrue();
        }
    }

    @Test
    void aConnectionWithoutRequestsIsCutOffInTime() throws Exception {
        start((headers, review) -> review, Map.of("sidewarp.operator.webhook.idle-timeout", "100ms"));
        try (SSLSocket client = TrustAll.connect(port)) {
            assertThat(ask(client, "review")).endsWith("review");

            assertThat(isCutOff(client)).isTrue();
        }
    }

    @Test
    void anAnswerThatIsNotReadInItsTimeIsGone() throws Exception {
        start((headers, review) -> LONG_ANSWER, Map.of("sidewarp.operator.webhook.request-timeout", "1s"));
        try (SSLSocket client = TrustAll.connect(port);
                SSLSocket next = TrustAll.connect(port)) {
            send(client, "review");
            // Waits as long as the other one may take.
            next.startHandshake();
            assertThat(isCutOff(next)).isTrue();

            await().atMost(LIMIT).untilAsserted(() -> assertThat(octets(client)).isLessThan(LONG_ANSWER.length));
        }
    }

    @Test
    void whatIsNoReviewIsRefusedAndTheNextRequestAnswered() throws Exception {
        start((headers, review) -> review, Map.of());
        try (SSLSocket client = TrustAll.connect(port)) {
            client.getOutputStream()
                    .write("POST /elsewhere HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(answer(client)).startsWith("HTTP/1.1 404").endsWith("POST an AdmissionReview to /mutate-pods\n");
            assertThat(ask(client, " ".repeat(WebhookServer.MAX_REVIEW_OCTETS + 1)))
                    .startsWith("HTTP/1.1 413")
                    .endsWith("more than 6291456 bytes\n");
            assertThat(ask(client, "review")).startsWith("HTTP/1.1 200").endsWith("review");
        }
    }

    @Test
    void aDecisionThatFailsIsToldAndTheNextRequestAnswered() throws Exception {
        start(
                (headers, review) -> {
                    if (reviews.incrementAndGet() == 1) {
                        throw new IllegalArgumentException("no review");
                    }
                    if (reviews.get() == 2) {
                        throw new IllegalStateException("as tested");
                    }
                    return review;
                },
                Map.of());
        try (SSLSocket client = TrustAll.connect(port)) {
            assertThat(ask(client, "1")).startsWith("HTTP/1.1 400").endsWith("no review\n");
            assertThat(ask(client, "2")).startsWith("HTTP/1.1 500").endsWith("see the controller's log\n");
            assertThat(ask(client, "3")).startsWith("HTTP/1.1 200").endsWith("3");
        }
    }

    @Test
    void whatHasBegunIsAnsweredBeforeTheEndAndConnectionsEndBehindTheirAnswers() throws Exception {
        start(this::decideWhenAllowed, Map.of("sidewarp.operator.webhook.shutdown-delay", "5s"));
        try (SSLSocket idle = TrustAll.connect(port);
                SSLSocket busy = TrustAll.connect(port)) {
            mayDecide.release();
            assertThat(ask(idle, "first")).doesNotContain("connection: close").endsWith("first");
            send(busy, "under way");
            await().atMost(LIMIT).until(() -> reviews.get() == 2);

            CompletableFuture<Void> end = drain();
            try (SSLSocket late = TrustAll.connect(port)) {
                send(late, "late");
                await().atMost(LIMIT).until(() -> reviews.get() == 3);
                assertThat(isCutOff(idle)).isTrue();
                await().atMost(LIMIT).until(this::refusesConnections);
                assertThat(end).isNotDone();

                mayDecide.release(2);
                assertThat(answer(busy)).contains("connection: close").endsWith("under way");
                assertThat(answer(late)).contains("connection: close").endsWith("late");
                assertThat(end).succeedsWithin(LIMIT);
            }
        }
    }

    @Test
    void aRequestThatDoesNotGoOnHoldsUpTheEndForItsTimeOnly() throws Exception {
        start(
                (headers, review) -> review,
                Map.of(
                        "sidewarp.operator.webhook.shutdown-delay", "0s",
                        "sidewarp.operator.webhook.request-timeout", "1s"));
        try (SSLSocket slow = TrustAll.connect(port)) {
            sendHalf(slow);

            assertThat(drain()).succeedsWithin(LIMIT);
        }
    }

    private CompletableFuture<Void> drain() {
        return CompletableFuture.runAsync(() -> {
            try {
                listener.drain();
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
        });
    }

    private byte[] decideWhenAllowed(HttpHeaders headers, byte[] review) throws InterruptedException {
        reviews.incrementAndGet();
        assertThat(mayDecide.tryAcquire(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return review;
    }

    private void start(Reviewer reviewer, Map<String, String> changes) throws Exception {
        WebhookCertificate certificate =
                CertificateMaker.make(List.of("localhost"), Instant.now(), Duration.ofHours(1), "");
        keys.serve(certificate.key(), certificate.chain());
        Map<String, String> settings =
                new HashMap<>(Map.of("sidewarp.operator.webhook.connections", Integer.toString(CONNECTIONS)));
        settings.putAll(changes);
        listener = WebhookServer.listener(TestSettings.of(settings).webhook(), keys, reviewer, cutOff::incrementAndGet);
        port = listener.start("127.0.0.1", 0);
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) LIMIT.toMillis());
        return socket;
    }

    private boolean refusesConnections() throws IOException {
        try (Socket connected = connect()) {
            return !connected.isConnected();
        } catch (ConnectException e) {
            return true;
        }
    }

    private static byte[] head(int length) {
        return ("POST /mutate-pods?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static void sendHalf(SSLSocket client) throws IOException {
        client.getOutputStream().write(head(2 * HALF_BODY));
        client.getOutputStream().write(new byte[HALF_BODY]);
    }

    private static void send(SSLSocket client, String review) throws IOException {
        client.getOutputStream().write(head(review.length()));
        client.getOutputStream().write(review.getBytes(StandardCharsets.US_ASCII));
    }

    private static String ask(SSLSocket client, String review) throws IOException {
        send(client, review);
        return answer(client);
    }

    /** Head and body. */
    private static String answer(SSLSocket client) throws IOException {
        InputStream input = client.getInputStream();
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.US_ASCII).endsWith("\r\n\r\n")) {
            int octet = input.read();
            assertThat(octet).isNotNegative();
            head.write(octet);
        }
        String text = head.toString(StandardCharsets.US_ASCII);
        int length = Integer.parseInt(text.replaceAll("(?s).*content-length: ([0-9]+).*", "$1"));
        return text + new String(input.readNBytes(length), StandardCharsets.US_ASCII);
    }

    /** Returns the number of bytes that arrive before the connection is cut off. */
    private static long octets(SSLSocket client) throws IOException {
        byte[] part = new byte[1 << 16];
        long octets = 0;
        try {
            for (int read = client.getInputStream().read(part);
                    read >= 0;
                    read = client.getInputStream().read(part)) {
                octets += read;
            }
        } catch (IOException e) {
            // TLS ended without a close_notify.
        }
        return octets;
    }

    private static boolean isCutOff(Socket client) {
        try {
            return client.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }
}
