// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests security and permitted peers in the command, with packaged sidecars that have identities of its small CA. */
@ExtendWith(Logs.class)
class SecurityCommandIT {

    private static final String CART = "spiffe://cluster.local/ns/shop/sa/cart";
    private static final String STORE = "spiffe://cluster.local/ns/shop/sa/store";
    private static final int NO_PERMISSION = 77;

    private static Path certificates;
    private static SidecarProcess cart;
    private static SidecarProcess store;

    @BeforeAll
    static void start() {
        certificates = Directories.temporary("certificates");
        try (SidecarProcess plain = SidecarProcess.start("plain")) {
            Ended made =
                    CliProcess.run(plain, "identity", certificates.toString(), "ns/shop/sa/cart", "ns/shop/sa/store");
            assertThat(made.exitCode()).as(made.text()).isZero();
        }
        cart = sidecar("cart");
        store = sidecar("store");
    }

    private static SidecarProcess sidecar(String serviceAccount) {
        return SidecarProcess.with(serviceAccount)
                .set("sidewarp.identity.source", "files")
                .set(
                        "sidewarp.identity.directory",
                        certificates.resolve("ns/shop/sa/" + serviceAccount).toString())
                .start();
    }

    @AfterAll
    static void stop() {
        cart.close();
        store.close();
        Directories.delete(certificates);
    }

    @Test
    void aPermittedPeerPingsAndBothSidesShowTheVerifiedIdentities() {
        try (OwnedProcess server =
                        CliProcess.start(store, "ping", "--listen", "127.0.0.1:0", "--allow-peer", "ns/shop/sa/cart");
                OwnedProcess ping = CliProcess.start(
                        cart, "ping", CliProcess.awaitAddress(server), "--security", "required", "--count", "0")) {
            ping.awaitLine(line -> line.startsWith("round 1: "));

            assertShown(cart, STORE);
            assertShown(store, CART);
        }
    }

    private static void assertShown(SidecarProcess sidecar, String peer) {
        Patience.await("a connection with " + peer).untilAsserted(() -> {
            JsonNode connections = CliProcess.run(sidecar, "show", "connections", "--json")
                    .json()
                    .getFirst();
            assertThat(connections).hasSize(1);
            assertThat(connections.get(0).get("security").asText()).isEqualTo("tls");
            assertThat(connections.get(0).get("peer_identity").asText()).isEqualTo(peer);
        });
        assertThat(CliProcess.run(sidecar, "show", "connections").text()).contains("SECURITY", "PEER", "tls", peer);
    }

    @Test
    void aPeerThatIsNotPermittedIsToldAndLogged() {
        try (OwnedProcess server =
                CliProcess.start(store, "ping", "--listen", "127.0.0.1:0", "--allow-peer", "ns/shop/sa/web")) {
            String address = CliProcess.awaitAddress(server);

            CliProcess.run(cart, "ping", address, "--security", "required")
                    .assertFailed(NO_PERMISSION, "it does not permit the identity of this side");
            CliProcess.run(cart, "ping", address).assertFailed(NO_PERMISSION, "it takes only connections with TLS");
            CliProcess.run(cart, "ping", address, "--allow-peer", "ns/shop/sa/cart")
                    .assertFailed(NO_PERMISSION, "is " + STORE + ", which this connection does not permit");
        }
        assertThat(store.process().text())
                .contains("event=connection-denied", CART + ", which this listener does not permit");
    }
}
