// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestIdentity;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.Security;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class IdentityReadinessTest {

    @Test
    void sidecarIsReadyWhenItHasItsCertificate() {
        TestAuthority authority = new TestAuthority("example.org");
        try (TestIdentity files = new TestIdentity();
                TestSidecar sidecar = TestSidecar.start(files.settings())) {
            Awaitility.await()
                    .untilAsserted(() -> assertThat(sidecar.get("/q/health/ready"))
                            .contains("\"status\":\"DOWN\"", "/tls.crt is not there; mount the volume"));
            assertThat(sidecar.get("/q/health/live")).contains("\"status\":\"UP\"");
            assertThat(sidecar.get("/q/health/group/outbound")).contains("\"status\":\"DOWN\"");

            try (TestSession session = sidecar.session()) {
                var request = session.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setSecurity(Security.SECURITY_REQUIRED))
                        .build();
                assertThatThrownBy(() -> session.connections().connect(request))
                        .hasMessageContaining("no certificate yet; wait until it is ready. Reason: ")
                        .hasMessageContaining("/tls.crt is not there; mount the volume");
            }

            try (TestSession session = sidecar.session();
                    LogLines log = LogLines.warnings("io.sidewarp.peer")) {
                var request = session.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setSecurity(Security.SECURITY_PREFERRED))
                        .build();
                for (int attempt = 0; attempt < 2; attempt++) {
                    assertThatThrownBy(() -> session.connections().connect(request))
                            .hasMessageContaining("Connection refused");
                }
                assertThat(log.all())
                        .singleElement()
                        .asString()
                        .startsWith(
                                "event=connection-without-tls message=\"security is `preferred`, and this sidecar has"
                                        + " no certificate yet")
                        .contains("/tls.crt is not there; mount the volume");
            }

            files.write(authority.leaf("cart"), authority.certificate());

            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(sidecar.get("/q/health/ready"))
                            .isEqualTo("{\"status\":\"UP\",\"checks\":[{\"name\":\"ready\",\"status\":\"UP\"}]}\n"));
            assertThat(sidecar.get("/q/health/group/outbound")).contains("\"status\":\"UP\"");
        }
    }
}
