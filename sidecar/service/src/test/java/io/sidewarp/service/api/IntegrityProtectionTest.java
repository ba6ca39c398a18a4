// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestIdentity;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.CrcPreference;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.Security;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the setting that names TLS as the protection in place of CRCs, with values of both sides. */
class IntegrityProtectionTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");

    @ParameterizedTest
    @CsvSource({
        "TLS,   TLS,   REQUIRED, UNSPECIFIED, false",
        "tls,   TLS,   REQUIRED, UNSPECIFIED, false",
        "TLS,   TLS,   REQUIRED, ON,          true",
        "TLS,   TLS,   REQUIRED, REQUIRED,    true",
        "TLS,   TLS,   PLAIN,    UNSPECIFIED, true",
        "TLS,   '',    REQUIRED, UNSPECIFIED, true",
        "'',    TLS,   REQUIRED, UNSPECIFIED, true",
        "IPsec, IPsec, REQUIRED, UNSPECIFIED, true",
        "'',    '',    REQUIRED, UNSPECIFIED, true",
    })
    @Requirement({"MPA-4.4-03", "MPA-4.4-01"})
    void crcsAreOffOnlyInTlsAndIfTheAdministratorsOfBothSidesSaySo(
            String initiator, String responder, String security, String crc, boolean used) {
        ConnectionOptions options = ConnectionOptions.newBuilder()
                .setSecurity(Security.valueOf("SECURITY_" + security))
                .build();
        try (TestIdentity cart = AUTHORITY.identity("cart");
                TestIdentity db = AUTHORITY.identity("db");
                TestSidecar left =
                        TestSidecar.start(cart.settings("sidewarp.connection.integrity-protection", initiator));
                TestSidecar right =
                        TestSidecar.start(db.settings("sidewarp.connection.integrity-protection", responder))) {
            awaitReady(left);
            awaitReady(right);
            try (TestSession client = left.session();
                    TestSession server = right.session();
                    TestSession.Listening listening = server.listen(ListenRequest.newBuilder()
                            .setSession(server.token())
                            .setAddress("127.0.0.1")
                            .setOptions(options)
                            .build())) {
                CompletableFuture<Connection> call = client.connect(client.connectRequest(listening.port())
                        .setOptions(options.toBuilder().setCrc(CrcPreference.valueOf("CRC_PREFERENCE_" + crc)))
                        .build());
                Connection there = server.connections()
                        .accept(AcceptRequest.newBuilder()
                                .setSession(server.token())
                                .setRequest(listening.next().getId())
                                .build())
                        .getConnection();

                assertThat(call.join().getCrc()).isEqualTo(used);
                assertThat(there.getCrc()).isEqualTo(used);
            }
        }
    }

    private static void awaitReady(TestSidecar sidecar) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> sidecar.sidecar().health().isReady());
    }
}
