// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import java.util.Comparator;
import java.util.stream.Stream;

/** Which of several policies that select a NIC counts. */
public final class PolicyOrder {
    /** The one that counts first: the highest priority, and then the name. For policies with a specification. */
    public static final Comparator<IwarpNicPolicy> BY_RANK = Comparator.comparing(
                    (IwarpNicPolicy policy) -> policy.getSpec().priority(), Comparator.reverseOrder())
            .thenComparing(policy -> policy.getMetadata().getName());

    private PolicyOrder() {}

    /** How many of {@code all} come before {@code policy}. */
    static int rank(IwarpNicPolicy policy, Stream<IwarpNicPolicy> all) {
        return (int) all.filter(other -> other.getSpec() != null && BY_RANK.compare(other, policy) < 0)
                .count();
    }
}
