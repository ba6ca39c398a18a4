// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests patterns of SPIFFE IDs. */
final class PeerPatternTest {

    private static final String OWN = "example.org";

    private static SpiffeId id(String text) {
        return SpiffeId.parse(text).orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "spiffe://example.org/ns/shop/sa/cart,  spiffe://example.org/ns/shop/sa/cart",
        "spiffe://other.org/ns/shop/sa/cart,    spiffe://other.org/ns/shop/sa/cart",
        "ns/shop/sa/cart,                       spiffe://example.org/ns/shop/sa/cart",
        "ns/shop/sa/*,                          spiffe://example.org/ns/shop/sa/cart",
        "ns/*/sa/cart,                          spiffe://example.org/ns/shop/sa/cart",
        "ns/shop/sa/ca*,                        spiffe://example.org/ns/shop/sa/cart",
        "ns/shop/sa/cart*,                      spiffe://example.org/ns/shop/sa/cart",
        "ns/shop/sa/*r*,                        spiffe://example.org/ns/shop/sa/cart",
        "ns/shop/sa/*a*t,                       spiffe://example.org/ns/shop/sa/cart-a-t",
        "ns/shop/**,                            spiffe://example.org/ns/shop/sa/cart",
        "ns/**,                                 spiffe://example.org/ns/shop/sa/cart",
        "spiffe://example.org/**,               spiffe://example.org/vm/7",
        "spiffe://example.org,                  spiffe://example.org",
    })
    void aPatternMatchesItsIds(String pattern, String peer) {
        assertThat(PeerPattern.parse(pattern).matches(id(peer), OWN)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "spiffe://example.org/ns/shop/sa/cart,  spiffe://example.org/ns/shop/sa/carts",
        "spiffe://example.org/ns/shop/sa/cart,  spiffe://other.org/ns/shop/sa/cart",
        "ns/shop/sa/cart,                       spiffe://other.org/ns/shop/sa/cart",
        "ns/shop/sa/*,                          spiffe://other.org/ns/shop/sa/cart",
        "ns/shop/sa/*,                          spiffe://example.org/ns/shop2/sa/cart",
        "ns/shop/sa/*,                          spiffe://example.org/ns/shop/sa/cart/more",
        "ns/shop/*,                             spiffe://example.org/ns/shop/sa/cart",
        "ns/*/cart,                             spiffe://example.org/ns/shop/sa/cart",
        "ns/shop/**,                            spiffe://example.org/ns/shop",
        "ns/shop/**,                            spiffe://example.org/ns/shopping/sa/cart",
        "ns/shop/sa/ca*r,                       spiffe://example.org/ns/shop/sa/cart",
        "ns/shop/sa/cart,                       spiffe://example.org/ns/shop/sa/Cart",
        "spiffe://example.org/**,               spiffe://example.org",
        "spiffe://example.org,                  spiffe://example.org/ns/shop/sa/cart",
    })
    void aPatternMatchesNothingElse(String pattern, String peer) {
        assertThat(PeerPattern.parse(pattern).matches(id(peer), OWN)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "*",
                "cart",
                "shop/cart",
                "spiffe://",
                "spiffe:///ns/shop/sa/cart",
                "spiffe://*/ns/shop/sa/cart",
                "spiffe://Example.org/ns/shop/sa/cart",
                "spiffe://example.org/",
                "spiffe://example.org/ns//sa/cart",
                "https://example.org/ns/shop/sa/cart",
                "ns/shop/**/cart",
                "ns/shop/sa/ca**",
                "ns/../sa/cart",
                "ns/shop/sa/cart ",
                "ns/shop/sa/cart?x",
            })
    void anInvalidPatternIsRefusedWithExamples(String pattern) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PeerPattern.parse(pattern))
                .withMessageStartingWith("the pattern of peers `" + pattern + "` is not valid: ")
                .withMessageEndingWith(
                        "examples are spiffe://example.org/ns/shop/sa/cart, ns/shop/sa/* and ns/shop/**");
    }

    @Test
    void neighboursAreInTheSameNamespace() {
        PeerPattern neighbours = PeerPattern.neighbours(id("spiffe://example.org/ns/shop/sa/cart"));
        assertThat(neighbours).hasToString("spiffe://example.org/ns/shop/**");
        assertThat(neighbours.matches(id("spiffe://example.org/ns/shop/sa/db"), "other.org"))
                .isTrue();
        assertThat(neighbours.matches(id("spiffe://example.org/ns/shop2/sa/db"), OWN))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"spiffe://example.org/vm/7", "spiffe://example.org/ns/shop", "spiffe://example.org"})
    void neighboursOfAnIdWithoutNamespaceAreInTheSameTrustDomain(String own) {
        assertThat(PeerPattern.neighbours(id(own))).hasToString("spiffe://example.org/**");
    }

    @Test
    void aHostilePatternTakesLittleTime() {
        PeerPattern pattern = PeerPattern.parse("ns/" + "*a".repeat(900) + "b");
        SpiffeId peer = id("spiffe://example.org/ns/" + "a".repeat(2000));
        long start = System.nanoTime();
        assertThat(pattern.matches(peer, OWN)).isFalse();
        assertThat(System.nanoTime() - start).isLessThan(1_000_000_000L);
    }
}
