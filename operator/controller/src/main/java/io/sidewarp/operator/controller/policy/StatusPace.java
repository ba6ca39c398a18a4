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
 * When the status of a policy is written. Each report of a node changes the statuses of its policies, and a policy can have a
 * thousand nodes: between two writes of a status a time passes, so that their number depends on how long the nodes take and
 * not on how many there are. The first status of a specification does not wait, since people look for it.
 */
final class StatusPace {
    private final Duration interval;
    private final InstantSource clock;
    private final Map<String, Instant> written = new ConcurrentHashMap<>();

    /**
     * Nothing is written yet.
     *
     * @param interval least time between two writes
     */
    StatusPace(Duration interval, InstantSource clock) {
        this.interval = interval;
        this.clock = clock;
    }

    /**
     * How long a status has to wait that differs from what a policy has. One that does not have to is taken for written.
     *
     * @param name name of the policy
     * @param former the status that it has, if any
     * @param status the one that is to be written
     */
    Duration delay(String name, Optional<IwarpNicPolicyStatus> former, IwarpNicPolicyStatus status) {
        Instant now = clock.instant();
        boolean isFirst =
                former.isEmpty() || !Objects.equals(former.get().observedGeneration(), status.observedGeneration());
        Instant last = written.get(name);
        // A clock that was set back is no reason to wait for longer than the interval.
        Duration delay = isFirst || last == null || last.isAfter(now)
                ? Duration.ZERO
                : interval.minus(Duration.between(last, now));
        if (delay.isPositive()) {
            return delay;
        }
        written.put(name, now);
        return Duration.ZERO;
    }

    /** A policy is gone. */
    void forget(String name) {
        written.remove(name);
    }
}
