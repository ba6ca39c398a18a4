// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.net.tls.TestAuthority.Leaf;
import io.sidewarp.engine.verbs.SpiffeId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the credentials of this side: mistakes are found before a connection is. */
final class TlsCredentialsTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");

    @Test
    void tellTheIdentityAndItsEnd() {
        Leaf leaf = AUTHORITY.leaf("db");
        TlsCredentials credentials = leaf.trusting(AUTHORITY.anchors());

        assertThat(credentials.id()).hasToString("spiffe://example.org/ns/shop/sa/db");
        assertThat(credentials.expiry())
                .isEqualTo(leaf.certificate().getNotAfter().toInstant());
    }

    @Test
    void aKeyOfAnotherCertificateIsRefused() {
        Leaf leaf = new Leaf(AUTHORITY.leaf("other").key(), AUTHORITY.leaf("db").certificate());

        assertThatThrownBy(() -> leaf.trusting(AUTHORITY.anchors()))
                .hasMessageContaining("the private key does not belong to the certificate of CN=leaf");
    }

    @Test
    void aCertificateWithoutExactlyOneUriIsRefused() {
        Instant now = Instant.now();
        for (List<String> uris : List.of(
                List.<String>of(), List.of("https://example.org"), List.of(AUTHORITY.id("a"), AUTHORITY.id("b")))) {
            assertThatThrownBy(() ->
                            AUTHORITY.leaf(uris, now, TestAuthority.hours(1)).trusting(AUTHORITY.anchors()))
                    .hasMessageContaining("has no SPIFFE ID; it needs exactly one URI");
        }
    }

    @Test
    void aTrustDomainWithoutACaIsRefused() {
        assertThatThrownBy(() -> AUTHORITY.leaf("db").trusting(Map.of("example.org", Set.of())))
                .hasMessageContaining("no CA for the trust domain example.org");
    }

    @ParameterizedTest
    @ValueSource(strings = {"spiffe://example.org", "spiffe://example.org/ns/shop/sa/cart", "spiffe://a-b_c.9/x.y/Z"})
    void validIdsKeepTheirText(String text) {
        assertThat(SpiffeId.parse(text)).hasValueSatisfying(id -> assertThat(id).hasToString(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "https://example.org/a",
                "spiffe://",
                "spiffe:///a",
                "spiffe://EXAMPLE.org/a",
                "spiffe://example.org/",
                "spiffe://example.org//a",
                "spiffe://example.org/a/",
                "spiffe://example.org/a/../b",
                "spiffe://example.org/.",
                "spiffe://example.org/a?b",
                "spiffe://example.org/a%20b",
                "spiffe://user@example.org/a",
                "spiffe://example.org:1/a",
            })
    void invalidIdsAreNotIds(String text) {
        assertThat(SpiffeId.parse(text)).isEmpty();
    }
}
