// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class BackoffTest {

    @Test
    void doublesTheWaitUpToALimitAndBeginsAnewAfterASuccess() {
        Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(5));
        assertThat(List.of(backoff.next(), backoff.next(), backoff.next(), backoff.next()))
                .containsExactly(
                        Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(5));
        backoff.reset();
        assertThat(backoff.next()).isEqualTo(Duration.ofSeconds(1));
    }
}
