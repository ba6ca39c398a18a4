// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.RdmaLink;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Failure;
import io.sidewarp.operator.agent.nic.ProvisioningResult.FunctionUser;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Outcome;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Brings the NICs of a node into the state that policies want. Restores NICs that no policy selects any more to their
 * original state. Writes only values that differ, one at a time, and reads each back. Not thread-safe.
 */
public final class NicProvisioner {

    private final Host host;
    private final VirtualFunctionUse use;
    private final OriginalValues originals;

    public NicProvisioner(Host host, VirtualFunctionUse use, OriginalValues originals) {
        this.host = host;
        this.use = use;
        this.originals = originals;
    }

    /**
     * Applies policies. Call this method again to retry failed or waiting changes.
     *
     * @param inventory NICs as they are now
     * @param policies policies by precedence; a NIC follows the first policy that selects it; an empty list restores
     *     everything
     * @return result for each NIC that a policy selects, or that the agent has changed; other NICs are only discovered
     * @throws HostException if the RDMA links of the node cannot be listed
     */
    public List<ProvisioningResult> apply(Inventory inventory, List<NodePolicy> policies) throws HostException {
        List<ProvisioningResult> results = new ArrayList<>();
        for (Nic nic : inventory.nics()) {
            Optional<NodePolicy> policy = policies.stream()
                    .filter(each -> NicMatcher.matches(each.nicSelector(), nic))
                    .findFirst();
            Map<NicAttribute, Integer> remembered = originals.of(nic);
            if (policy.isPresent() || !remembered.isEmpty()) {
                ProvisioningResult result = apply(nic, policy, ProvisioningPlan.of(nic, policy, remembered));
                results.add(policy.isPresent() ? result.and(openToUserSpace(nic)) : result);
            }
        }
        return results;
    }

    /** Stops offering the functions of a waiting NIC, until the next publication of the node's devices. */
    public void withhold(ProvisioningResult waiting) {
        use.withhold(waiting.functions());
    }

    private ProvisioningResult apply(Nic nic, Optional<NodePolicy> policy, ProvisioningPlan plan) {
        Optional<String> name = policy.map(NodePolicy::name);
        Set<PciAddress> functions = functions(nic, plan);
        List<FunctionUser> users = users(functions);
        if (users.isEmpty() && !functions.isEmpty()) {
            use.withhold(functions);
            // Pods may have received functions just before the withholding.
            users = users(functions);
        }
        if (!users.isEmpty()) {
            return new ProvisioningResult(
                    nic.address(),
                    name,
                    Outcome.WAITING,
                    List.of(),
                    functions,
                    users,
                    plan.refusals(),
                    Optional.empty());
        }
        ChangeRun run = new ChangeRun(host, originals, nic);
        Optional<Failure> failure = run.make(plan.changes());
        List<Change> applied = new ArrayList<>();
        if (failure.isEmpty()) {
            applied.addAll(plan.changes());
            for (Change change : plan.functionMtus()) {
                // One interface that refuses must undo neither the others nor the physical function.
                Optional<Failure> refused = run.make(List.of(change));
                if (refused.isEmpty()) {
                    applied.add(change);
                } else if (failure.isEmpty()) {
                    failure = refused;
                }
            }
        }
        if (failure.isEmpty()) {
            failure = forget(nic, plan);
        }
        Outcome outcome = applied.isEmpty() ? Outcome.UNCHANGED : Outcome.CHANGED;
        return new ProvisioningResult(
                nic.address(),
                name,
                failure.isPresent() ? Outcome.FAILED : outcome,
                applied,
                functions,
                List.of(),
                plan.refusals(),
                failure);
    }

    /** Returns the functions that the plan removes, or that lose RDMA for a time. */
    private static Set<PciAddress> functions(Nic nic, ProvisioningPlan plan) {
        Set<PciAddress> functions = new LinkedHashSet<>();
        for (Change change : plan.changes()) {
            if (change.attribute().isSwitch()) {
                functions.add(nic.address());
            }
            if (change.attribute().isSwitch() || change.removesVirtualFunctions()) {
                nic.virtualFunctions().forEach(function -> functions.add(function.address()));
            }
        }
        return functions;
    }

    private List<FunctionUser> users(Set<PciAddress> functions) {
        return functions.stream()
                .flatMap(function -> use.users(function).stream().map(user -> new FunctionUser(function, user)))
                .toList();
    }

    /**
     * Lets the kernel load ib_uverbs and rdma_ucm, since nothing else does this on a node without rdma-core. Drivers
     * such as irdma depend on ib_uverbs, and none depends on rdma_ucm.
     */
    private List<String> openToUserSpace(Nic nic) throws HostException {
        List<RdmaDevice> closed = host.exists(Inventory.CONNECTION_MANAGER)
                ? nic.closedToUserSpace()
                : nic.allRdmaDevices().filter(RdmaDevice::isIwarp).toList();
        List<String> refusals = new ArrayList<>();
        for (RdmaLink link : closed.isEmpty() ? List.<RdmaLink>of() : host.rdmaLinks()) {
            if (closed.stream().anyMatch(device -> device.name().equals(link.name()))) {
                try {
                    host.openToUserSpace(link);
                } catch (HostException e) {
                    refusals.add(e.getMessage() + ". Install the modules ib_uverbs and rdma_ucm on the node.");
                }
            }
        }
        return refusals;
    }

    private Optional<Failure> forget(Nic nic, ProvisioningPlan plan) {
        try {
            originals.retain(nic, plan.remembered());
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(new Failure(
                    "the changes are made, but the agent's state file cannot be written: " + e.getMessage()
                            + ". Make the agent's state directory writable.",
                    List.of()));
        }
    }
}
