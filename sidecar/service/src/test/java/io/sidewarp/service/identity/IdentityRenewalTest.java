// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.common.x509.Pem;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestIdentity;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.ConnectionState;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests connections of sidecars while the files of an identity change. */
class IdentityRenewalTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final TestAuthority authority = new TestAuthority("example.org");

    @Test
    void connectionOutlivesRenewalAndLossOfFiles() throws IOException {
        try (TestIdentity cart = authority.identity("cart");
                TestIdentity store = authority.identity("store");
                TestSidecar left = TestSidecar.start(cart.settings("sidewarp.connection.security", "required"));
                TestSidecar right = TestSidecar.start(store.settings("sidewarp.connection.security", "required"))) {
            awaitReady(left);
            awaitReady(right);
            try (TestSession client = left.session();
                    TestSession server = right.session()) {
                TestSession.Pair old = client.connectTo(server);
                assertThat(old.there().getPeerIdentity()).isEqualTo(authority.id("cart"));

                cart.write(authority.leaf("basket"), authority.certificate());
                Awaitility.await()
                        .atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(
                                        client.connectTo(server).there().getPeerIdentity())
                                .isEqualTo(authority.id("basket")));

                Files.delete(cart.directory().resolve("tls.crt"));
                Awaitility.await()
                        .atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(left.get("/q/health/ready"))
                                .contains("\"status\":\"UP\"", "is not renewed: ", "/tls.crt is not there"));
                assertThat(client.connectTo(server).there().getPeerIdentity()).isEqualTo(authority.id("basket"));
                assertThat(server.listConnections())
                        .filteredOn(
                                connection -> connection.getId() == old.there().getId())
                        .singleElement()
                        .satisfies(connection -> {
                            assertThat(connection.getState()).isEqualTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);
                            assertThat(connection.getPeerIdentity()).isEqualTo(authority.id("cart"));
                        });
            }
        }
    }

    @Test
    void newCaIsTrustedAfterItIsAddedToBothSides() {
        TestAuthority next = new TestAuthority("example.org");
        String both = Pem.encode(List.of(authority.certificate(), next.certificate()));
        try (TestIdentity cart = authority.identity("cart");
                TestIdentity store = authority.identity("store");
                TestSidecar left = TestSidecar.start(cart.settings("sidewarp.connection.security", "required"));
                TestSidecar right = TestSidecar.start(store.settings("sidewarp.connection.security", "required"))) {
            awaitReady(left);
            awaitReady(right);
            store.write("ca.crt", both);
            cart.write(next.leaf("basket"), next.certificate());
            cart.write("ca.crt", both);

            try (TestSession client = left.session();
                    TestSession server = right.session()) {
                Awaitility.await()
                        .atMost(PATIENCE)
                        .ignoreExceptions()
                        .untilAsserted(() -> assertThat(
                                        client.connectTo(server).there().getPeerIdentity())
                                .isEqualTo(next.id("basket")));
            }
        }
    }

    private static void awaitReady(TestSidecar sidecar) {
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> sidecar.sidecar().health().isReady());
    }
}
