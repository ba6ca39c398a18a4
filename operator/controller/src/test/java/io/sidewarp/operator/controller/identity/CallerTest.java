// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatusBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallerTest {
    private static final String USER = "system:serviceaccount:shop:cart.v2";

    private final TokenReviewStatus accepted = new TokenReviewStatusBuilder()
            .withAuthenticated(true)
            .withAudiences("sidewarp")
            .withNewUser()
            .withUsername(USER)
            .addToExtra("authentication.kubernetes.io/pod-name", List.of("cart-1"))
            .addToExtra("authentication.kubernetes.io/pod-uid", List.of("e4-1"))
            .endUser()
            .build();

    @Test
    void callerIsTheServiceAccountAndPodOfTheReview() {
        assertThat(Caller.of(accepted, "sidewarp")).contains(new Caller("shop", "cart.v2", "cart-1", "e4-1"));
        assertThat(Caller.of(accepted, "sidewarp").orElseThrow().spiffeId("example.org"))
                .isEqualTo("spiffe://example.org/ns/shop/sa/cart.v2");
    }

    /** A token that has expired, or whose pod is gone. */
    @Test
    void tokenThatTheApiServerDoesNotAcceptIsRefused() {
        assertThat(Caller.of(copy().withAuthenticated(false).build(), "sidewarp"))
                .isEmpty();
        assertThat(Caller.of(copy().withAuthenticated(null).build(), "sidewarp"))
                .isEmpty();
        assertThat(Caller.of(new TokenReviewStatus(), "sidewarp")).isEmpty();
    }

    /** An API server that does not know audiences accepts a token of any audience. */
    @Test
    void tokenOfAnUnknownAudienceIsRefused() {
        assertThat(Caller.of(copy().withAudiences().build(), "sidewarp")).isEmpty();
        assertThat(Caller.of(copy().withAudiences("vault", "sidewarp-2").build(), "sidewarp"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "admin",
                "system:node:n1",
                "system:serviceaccount:shop",
                "system:serviceaccount:shop:",
                "system:serviceaccount:shop:cart:x",
                "system:serviceaccount:shop/sa:cart",
                "system:serviceaccount:shop:../root",
                "system:serviceaccount:shop:cart\nsystem:serviceaccount:shop:root",
            })
    void userThatIsNoServiceAccountIsRefused(String user) {
        assertThat(Caller.of(copy().editUser().withUsername(user).endUser().build(), "sidewarp"))
                .isEmpty();
    }

    private TokenReviewStatusBuilder copy() {
        return new TokenReviewStatusBuilder(accepted);
    }
}
