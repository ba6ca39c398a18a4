// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.status;

import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.StatusRuntimeException;
import io.sidewarp.common.status.StatusPage;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.Region;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Tests the status page of a sidecar as a client on the management port. */
class SidecarStatusTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String SCRIPT = "<script>alert(1)</script>";

    @Test
    void pageAndDataHaveStrictHeaders() throws IOException {
        try (TestSidecar sidecar = TestSidecar.start()) {
            assertThat(get(sidecar, "/status", "localhost"))
                    .startsWith("HTTP/1.1 200 OK\r\n")
                    .containsIgnoringCase("content-type: text/html; charset=UTF-8")
                    .containsIgnoringCase("content-security-policy: default-src 'none'; script-src 'sha256-")
                    .contains("frame-ancestors 'none'")
                    .contains("<!DOCTYPE html>");
            assertThat(get(sidecar, "/status.json?x=1", "localhost"))
                    .startsWith("HTTP/1.1 200 OK\r\n")
                    .containsIgnoringCase("content-type: application/json; charset=UTF-8")
                    .containsIgnoringCase("x-content-type-options: nosniff")
                    .containsIgnoringCase("cross-origin-resource-policy: same-origin")
                    .containsIgnoringCase("cache-control: no-store")
                    .doesNotContainIgnoringCase("access-control")
                    .contains("\"title\":\"Sidewarp sidecar\"");
        }
    }

    @Test
    void pageDoesNotExistForOthers() throws IOException {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.management.host", "0.0.0.0")) {
            for (String path : new String[] {StatusPage.PATH, StatusPage.DATA_PATH}) {
                assertThat(get(sidecar, path, "127.0.0.1")).startsWith("HTTP/1.1 200 ");
                assertThat(get(sidecar, path, "rebound.example")).startsWith("HTTP/1.1 404 ");
                assertThat(get(sidecar, path, "127.0.0.6", "localhost")).startsWith("HTTP/1.1 404 ");
            }
            assertThat(get(sidecar, "/q/health/live", "127.0.0.6", "rebound.example"))
                    .startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void settingRemovesThePage() throws IOException {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.status-page", "false")) {
            assertThat(get(sidecar, "/status", "localhost")).startsWith("HTTP/1.1 404 ");
            assertThat(get(sidecar, "/status.json", "localhost")).startsWith("HTTP/1.1 404 ");
        }
    }

    @Test
    void dataShowObjectsWithoutTheirSecrets() throws IOException {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession session = sidecar.session(SCRIPT)) {
            Region region = session.managed(4096, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
            TestSession.Pair pair = session.connectTo(session);

            String data = get(sidecar, "/status.json", "localhost");

            assertThat(data)
                    .contains("[\"" + pair.here().getId() + "\",\"" + SCRIPT + "\","
                            + "{\"text\":\"established\",\"tone\":\"GOOD\"}")
                    .contains("[\"" + region.getId() + "\",\"" + SCRIPT + "\",{\"text\":\"valid\",\"tone\":\"GOOD\"},"
                            + "\"managed by the sidecar\",4096,\"remote read, remote write\"]")
                    .doesNotContain(session.token())
                    .doesNotContainIgnoringCase("stag\"")
                    .doesNotContain(Integer.toUnsignedString(region.getStag()))
                    .doesNotContainIgnoringCase(hex(region.getStag()));
        }
    }

    @Test
    void errorsHaveAdviceAndNoStag() throws IOException {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession session = sidecar.session("errors")) {
            Region source = session.managed(64);
            Region target = session.managed(64, Access.ACCESS_REMOTE_READ);
            assertThatThrownBy(() -> session.memory()
                            .deregisterRegion(DeregisterRegionRequest.newBuilder()
                                    .setSession(session.token())
                                    .setRegion(4711)
                                    .build()))
                    .isInstanceOf(StatusRuntimeException.class);
            TestSession.Pair pair = session.connectTo(session);
            try (TestQueue queue = session.queue(4)) {
                queue.credits();
                queue.post(write(1, pair.here().getId(), source, target, 65).build());
                queue.next();
                queue.post(write(2, pair.here().getId(), source, target, 8).build());
                queue.next();
            }

            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(get(sidecar, "/status.json", "localhost"))
                            .contains("\"call DeregisterRegion\"", "\"NOT_FOUND\"", "region 4711 is not known")
                            .contains("\"connection " + pair.here().getId() + "\"", "which has 64 bytes")
                            .contains("Invalid STag", "Change the request, or what it names at the peer, first.")
                            .doesNotContainIgnoringCase(hex(target.getStag())));
        }
    }

    @Test
    void waitsAndUsedUpQuotasAreShown() throws IOException {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.regions", "2");
                TestSession session = sidecar.session("waits")) {
            Region source = session.managed(64);
            Region target = session.managed(64, Access.ACCESS_REMOTE_WRITE);
            TestSession.Pair pair = session.connectTo(session);
            try (TestQueue queue = session.queue(4)) {
                queue.credits();
                queue.post(write(1, pair.there().getId(), source, target, 8).build());

                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(get(sidecar, "/status.json", "localhost"))
                                .contains("{\"text\":\"waiting for peer\",\"tone\":\"WAIT\"}")
                                .contains("\"connection " + pair.there().getId() + "\",\"waits\","
                                        + "\"posted work waits for the peer: ")
                                .contains("\"regions of a session\",\"waits\",\"2 of 2 are used\","
                                        + "\"Release some, or raise the setting sidewarp.limits.regions.\""));
            }
        }
    }

    private static String hex(int stag) {
        return "%08x".formatted(stag).toLowerCase(Locale.ROOT);
    }

    private static String get(TestSidecar sidecar, String path, String host) throws IOException {
        return get(sidecar, path, "127.0.0.1", host);
    }

    /** Returns the whole answer to a request from a local address. */
    private static String get(TestSidecar sidecar, String path, String from, String host) throws IOException {
        int port = sidecar.sidecar().managementAddress().orElseThrow().getPort();
        try (Socket socket = new Socket()) {
            socket.setSoTimeout((int) LIMIT.toMillis());
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral(from), 0));
            socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
            String request =
                    "GET " + path + " HTTP/1.1\r\nHost: " + host + ":" + port + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }
}
