// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import java.util.Comparator;
import java.util.stream.Stream;

/** Order of the policies that select one NIC. */
public final class PolicyOrder {
    /**
     * Policy that applies first: highest priority, then name in alphabetical order. For policies with a specification.
     */
    public static final Comparator<IwarpNicPolicy> BY_RANK = Comparator.comparing(
                    (IwarpNicPolicy policy) -> policy.getSpec().priority(), Comparator.reverseOrder())
            .thenComparing(policy -> policy.getMetadata().getName());

    private PolicyOrder() {}

    /** Returns the number of policies in {@code all} that come before {@code policy}. */
    static int rank(IwarpNicPolicy policy, Stream<IwarpNicPolicy> all) {
        return (int) all.filter(other -> other.getSpec() != null && BY_RANK.compare(other, policy) < 0)
                .count();
    }
}
