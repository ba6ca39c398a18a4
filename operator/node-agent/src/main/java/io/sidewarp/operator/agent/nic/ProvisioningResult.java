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
 * Result of provisioning for a NIC that a policy selects, or that the agent had changed before.
 *
 * @param nic address of the NIC
 * @param policy name of the NIC's policy; empty if none selects it any more
 * @param outcome overall outcome
 * @param applied changes that were made and are in effect
 * @param functions functions that the changes remove or whose RDMA they switch; pods may use them
 * @param users users that must go before the changes can be made; empty unless the outcome is WAITING
 * @param refusals wishes of the policy that the NIC cannot fulfil: what, why, and what to do
 * @param failure present if the outcome is FAILED
 */
public record ProvisioningResult(
        PciAddress nic,
        Optional<String> policy,
        Outcome outcome,
        List<Change> applied,
        Set<PciAddress> functions,
        List<FunctionUser> users,
        List<String> refusals,
        Optional<Failure> failure) {

    public enum Outcome {
        /** There was nothing to change. */
        UNCHANGED,
        /** All changes were made. */
        CHANGED,
        /** Nothing was changed, because affected functions are in use. */
        WAITING,
        /** A change failed. The changes before it were rolled back, except those that the failure lists. */
        FAILED
    }

    /**
     * A user of a function that has to change.
     *
     * @param user name in the form of {@link VirtualFunctionUse}
     */
    public record FunctionUser(PciAddress function, String user) {}

    /**
     * Reason of a failed change.
     *
     * @param message the change, the kernel's answer, and what to do
     * @param notRolledBack earlier changes that could not be rolled back, with the reasons; empty if all were
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

    ProvisioningResult and(List<String> more) {
        List<String> all = new ArrayList<>(refusals);
        all.addAll(more);
        return new ProvisioningResult(nic, policy, outcome, applied, functions, users, all, failure);
    }

    /** Returns whether functions were made, or iWARP was switched on. RDMA devices may then follow. */
    public boolean bringsRdma() {
        return applied.stream()
                .anyMatch(change -> change.to() > 0
                        && (change.attribute().kind() == Kind.VIRTUAL_FUNCTIONS
                                || change.attribute().kind() == Kind.IWARP));
    }

    /** Returns the problem and what to do about it; empty if there is no problem. */
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
        refusals.forEach(refusal -> messages.add("Refused: " + refusal));
        return messages.isEmpty() ? Optional.empty() : Optional.of(String.join(" ", messages));
    }
}
