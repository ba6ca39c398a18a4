// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Limits how often the status of a policy is written. Each report of a node changes the statuses of its policies, and a
 * policy can have a thousand nodes. A minimum time between two writes makes the number of writes depend on the duration
 * of a change, not on the number of nodes. The first status of a specification does not wait, because people look for
 * it.
 */
final class StatusPace {
    private final Duration interval;
    private final InstantSource clock;
    private final Map<String, Instant> written = new ConcurrentHashMap<>();

    /**
     * Creates a limit without any write so far.
     *
     * @param interval minimum time between two writes
     */
    StatusPace(Duration interval, InstantSource clock) {
        this.interval = interval;
        this.clock = clock;
    }

    /**
     * Returns the time that a changed status must wait before it is written. A status that need not wait is recorded as
     * written now.
     *
     * @param name name of the policy
     * @param former the present status, if any
     * @param status the status to write
     */
    Duration delay(String name, Optional<IwarpNicPolicyStatus> former, IwarpNicPolicyStatus status) {
        Instant now = clock.instant();
        boolean isFirst =
                former.isEmpty() || !Objects.equals(former.get().observedGeneration(), status.observedGeneration());
        Instant last = written.get(name);
        // After the clock is set back, a status does not wait for longer than the interval.
        Duration delay = isFirst || last == null || last.isAfter(now)
                ? Duration.ZERO
                : interval.minus(Duration.between(last, now));
        if (delay.isPositive()) {
            return delay;
        }
        written.put(name, now);
        return Duration.ZERO;
    }

    /** Forgets a policy that is gone. */
    void forget(String name) {
        written.remove(name);
    }
}
