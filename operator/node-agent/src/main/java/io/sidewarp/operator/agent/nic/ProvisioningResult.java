// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.nic.NicAttribute.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What became of a NIC that a policy selects, or that the agent had changed before.
 *
 * @param policy name of the policy that rules it, empty when none does any more
 * @param applied the changes that were made and hold
 * @param functions those that the changes take away, or whose RDMA they switch; they may be in use
 * @param users who has to go before the changes can be made; none unless the outcome is WAITING
 * @param refusals what the policy wants and the NIC cannot have
 * @param failure there when the outcome is FAILED
 */
public record ProvisioningResult(
        PciAddress nic,
        Optional<String> policy,
        Outcome outcome,
        List<Change> applied,
        Set<PciAddress> functions,
        List<FunctionUser> users,
        List<Refusal> refusals,
        Optional<Failure> failure) {

    public enum Outcome {
        /** There was nothing to change. */
        UNCHANGED,
        /** All changes were made. */
        CHANGED,
        /** Nothing was changed, because functions that would go are in use. */
        WAITING,
        /** A change failed, and those before it were taken back as far as the failure says. */
        FAILED
    }

    /**
     * Why a change failed.
     *
     * @param message which change, what the kernel said, and what to do
     * @param notRolledBack changes before it that could not be taken back, and why; empty when all were
     */
    public record Failure(String message, List<String> notRolledBack) {

        public Failure {
            notRolledBack = List.copyOf(notRolledBack);
        }
    }

    public ProvisioningResult {
        applied = List.copyOf(applied);
        functions = Set.copyOf(functions);
        users = List.copyOf(users);
        refusals = List.copyOf(refusals);
    }

    ProvisioningResult and(List<Refusal> more) {
        List<Refusal> all = new ArrayList<>(refusals);
        all.addAll(more);
        return new ProvisioningResult(nic, policy, outcome, applied, functions, users, all, failure);
    }

    /** Whether the NIC is as its policy wants it. */
    public boolean isAsWanted() {
        return refusals.isEmpty() && (outcome == Outcome.UNCHANGED || outcome == Outcome.CHANGED);
    }

    /** Whether functions were made, or iWARP was switched on: RDMA devices may follow. */
    public boolean bringsRdma() {
        return applied.stream()
                .anyMatch(change -> change.to() > 0
                        && (change.attribute().kind() == Kind.VIRTUAL_FUNCTIONS
                                || change.attribute().kind() == Kind.IWARP));
    }

    /** What is wrong, and what to do; empty when nothing is. */
    public Optional<String> message() {
        List<String> messages = new ArrayList<>();
        failure.ifPresent(failed -> {
            messages.add("Failed: " + failed.message());
            failed.notRolledBack().forEach(left -> messages.add("Not taken back: " + left));
        });
        if (!users.isEmpty()) {
            messages.add("Waiting for "
                    + users.stream()
                            .map(user -> user.user() + " (" + user.function() + ")")
                            .collect(Collectors.joining(", "))
                    + " to go.");
        }
        refusals.forEach(refusal -> messages.add("Refused: " + refusal.message()));
        return messages.isEmpty() ? Optional.empty() : Optional.of(String.join(" ", messages));
    }
}
