// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Security;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests a packaged sidecar with a peer in Python, which speaks MPA inside TLS, in both roles. The peer knows nothing but
 * the standard library and certificates of the same CA.
 */
@ExtendWith(Logs.class)
class TlsPeerIT {

    private static final String PEER =
            "sidecar/engine/net/src/test/resources/io/sidewarp/provider/software/mpa_tls_peer.py";
    private static final String STRANGER = "spiffe://cluster.local/ns/shop/sa/stranger";
    private static final int LENGTH = 10_000;
    private static final String GREETING = "hello from Python";

    private static final Path CERTIFICATES = Directories.temporary("certificates");
    private static SidecarProcess sidecar;
    private static SidewarpClient client;
    private static Session session;

    @BeforeAll
    static void start() {
        Tools.need("python3", "python3");
        sidecar = SidecarProcess.with("secure")
                .set("sidewarp.identity.source", "files")
                .set("sidewarp.identity.directory", certificates("cart").toString())
                .set("sidewarp.connection.security", "required")
                .launch();
        CliProcess.Ended made =
                CliProcess.run(sidecar, "identity", CERTIFICATES.toString(), "ns/shop/sa/cart", "ns/shop/sa/stranger");
        assertThat(made.exitCode()).as(made.text()).isZero();
        client = sidecar.client();
        client.awaitReady(Patience.LIMIT);
        session = client.openSession("secure");
    }

    @AfterAll
    static void stop() {
        if (client != null) {
            client.close();
        }
        if (sidecar != null) {
            sidecar.close();
        }
    }

    private static Path certificates(String serviceAccount) {
        return CERTIFICATES.resolve("ns/shop/sa").resolve(serviceAccount);
    }

    private static OwnedProcess peer(String role, String... further) {
        Path own = certificates("stranger");
        List<String> command =
                new ArrayList<>(List.of("python3", Programs.root().resolve(PEER).toString(), role));
        for (String file : List.of("ca.crt", "tls.crt", "tls.key")) {
            command.add(own.resolve(file).toString());
        }
        command.addAll(List.of(further));
        return OwnedProcess.start("python-" + role, command);
    }

    @Test
    void aPeerConnectsAndWritesAndReads() throws Exception {
        ManagedRegion region =
                session.registerManaged(LENGTH, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.LOCAL_WRITE);
        region.store(0, "x".repeat(LENGTH).getBytes(US_ASCII));
        BlockingQueue<IncomingConnection> requests = new LinkedBlockingQueue<>();
        ListenOptions permitting = ListenOptions.defaults()
                .withConnections(ConnectionOptions.builder()
                        .allowedPeers("ns/shop/sa/strang*")
                        .build());
        try (Listener listener = session.listen(Link.LOOPBACK, 0, permitting, requests::add);
                OwnedProcess python = peer(
                        "connect",
                        String.valueOf(listener.port()),
                        Integer.toUnsignedString(region.stag()),
                        String.valueOf(LENGTH))) {
            IncomingConnection request = requests.poll(Patience.LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(request).as(python::text).isNotNull();
            assertThat(request.peerIdentity()).contains(STRANGER);
            Connection connection = request.accept();

            assertThat(python.awaitExit()).as(python::text).isZero();
            assertThat(python.output()).contains(GREETING + "x".repeat(LENGTH - GREETING.length()));
            Patience.get(connection.closed());
        }
    }

    @Test
    void aPeerListensAndReceives() throws Exception {
        ManagedRegion region = session.registerManaged(LENGTH, Access.LOCAL_WRITE);
        region.store(0, "hello from Sidewarp".getBytes(US_ASCII));
        try (OwnedProcess python = peer("listen")) {
            int port = Integer.parseInt(python.awaitLine(line -> line.matches("\\d+")));
            Connection connection = session.connect(
                    Link.LOOPBACK,
                    port,
                    ConnectionOptions.builder()
                            .mpaRequestRevision(1)
                            .security(Security.REQUIRED)
                            .allowedPeers(STRANGER)
                            .build());
            assertThat(connection.peerIdentity()).contains(STRANGER);
            Patience.get(connection.sendAsync(List.of(region.slice(0, 19)), false));
            Patience.get(connection.disconnectAsync());

            assertThat(python.awaitExit()).as(python::text).isZero();
            assertThat(python.output()).contains("hello from Sidewarp");
        }
    }
}
