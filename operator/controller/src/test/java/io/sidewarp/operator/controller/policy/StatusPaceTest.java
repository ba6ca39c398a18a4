// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StatusPaceTest {
    private static final Duration INTERVAL = Duration.ofSeconds(2);

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final StatusPace pace = new StatusPace(INTERVAL, () -> now);

    @Test
    void theFirstStatusOfAPolicyDoesNotWait() {
        assertThat(pace.delay("p", Optional.empty(), status(1, 0))).isZero();
    }

    @Test
    void theNextStatusOfTheSameSpecificationWaitsForTheRestOfTheInterval() {
        pace.delay("p", Optional.empty(), status(1, 0));
        now = now.plusMillis(500);

        assertThat(pace.delay("p", Optional.of(status(1, 0)), status(1, 1))).isEqualTo(Duration.ofMillis(1500));
    }

    @Test
    void waitingDoesNotBeginAgainWithEachReport() {
        pace.delay("p", Optional.empty(), status(1, 0));
        for (int ready = 1; ready < 20; ready++) {
            assertThat(pace.delay("p", Optional.of(status(1, 0)), status(1, ready)))
                    .isPositive();
            now = now.plusMillis(100);
        }
        now = now.plusMillis(100);

        assertThat(pace.delay("p", Optional.of(status(1, 0)), status(1, 20))).isZero();
    }

    @Test
    void aThousandReportsInAMinuteAreThirtyWritesAndTheLastIsWritten() {
        Optional<IwarpNicPolicyStatus> stored = Optional.of(status(1, 0));
        pace.delay("p", Optional.empty(), status(1, 0));
        int writes = 0;
        for (int ready = 1; ready <= 1000; ready++) {
            now = now.plusMillis(60);
            if (pace.delay("p", stored, status(1, ready)).isZero()) {
                stored = Optional.of(status(1, ready));
                writes++;
            }
        }
        assertThat(writes).isBetween(25, 30);

        now = now.plus(pace.delay("p", stored, status(1, 1000)));
        assertThat(pace.delay("p", stored, status(1, 1000))).isZero();
    }

    @Test
    void theStatusOfANewSpecificationDoesNotWait() {
        pace.delay("p", Optional.empty(), status(1, 0));

        assertThat(pace.delay("p", Optional.of(status(1, 0)), status(2, 0))).isZero();
    }

    @Test
    void policiesDoNotWaitForEachOther() {
        pace.delay("p", Optional.empty(), status(1, 0));

        assertThat(pace.delay("q", Optional.of(status(1, 0)), status(1, 1))).isZero();
    }

    @Test
    void aPolicyThatCameBackDoesNotWait() {
        pace.delay("p", Optional.empty(), status(1, 0));
        pace.forget("p");

        assertThat(pace.delay("p", Optional.of(status(1, 0)), status(1, 1))).isZero();
    }

    @Test
    void aClockThatIsSetBackDoesNotHoldStatusesUp() {
        pace.delay("p", Optional.empty(), status(1, 0));
        now = now.minus(Duration.ofHours(1));

        assertThat(pace.delay("p", Optional.of(status(1, 0)), status(1, 1))).isZero();
    }

    private static IwarpNicPolicyStatus status(long generation, int ready) {
        return new IwarpNicPolicyStatus(
                generation, 1000, ready, 0, ProvisionedBy.NODE_AGENT, null, "sidewarp.io/rnic", List.of());
    }
}
