// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.nic.Nic.SrIov;
import io.sidewarp.operator.agent.nic.NicAttribute.Kind;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Writes that bring a NIC into the state of its policy. The plan is a pure function of the observed, the wanted and the
 * original values.
 *
 * @param changes changes in their order, each of them one write
 * @param functionMtus changes of MTUs of virtual functions, after the other changes; empty if these make or remove
 *     virtual functions, whose interfaces appear later
 * @param refusals wishes that cannot be fulfilled, why, and what to do; the changes are made nevertheless
 * @param remembered attributes whose original values are still needed after the changes
 */
record ProvisioningPlan(
        List<Change> changes, List<Change> functionMtus, List<String> refusals, Set<NicAttribute> remembered) {

    ProvisioningPlan {
        changes = List.copyOf(changes);
        functionMtus = List.copyOf(functionMtus);
        refusals = List.copyOf(refusals);
        remembered = Set.copyOf(remembered);
    }

    /**
     * Computes the plan of a NIC.
     *
     * @param policy policy of the NIC; empty if none selects it
     * @param originals values before the agent's first change, of the attributes that the agent has changed
     */
    static ProvisioningPlan of(Nic nic, Optional<NodePolicy> policy, Map<NicAttribute, Integer> originals) {
        SortedMap<NicAttribute, Integer> observed = observed(nic);
        SortedMap<NicAttribute, Integer> wanted = new TreeMap<>();
        List<String> refusals = new ArrayList<>(refuseUnreadable(nic, policy, originals));
        if (policy.isPresent()) {
            Optional<String> refusal = refuse(nic, policy.get());
            if (refusal.isPresent()) {
                refusals.add(refusal.get());
                // The NIC stays unchanged: it gets neither the policy's values nor its original values.
                wanted.putAll(observed);
            } else {
                wanted.putAll(wanted(nic, policy.get()));
                refuseVirtualFunctions(nic, policy.get()).ifPresent(refused -> {
                    refusals.add(refused);
                    keep(NicAttribute.VIRTUAL_FUNCTIONS, observed, wanted);
                });
            }
        }
        SortedMap<NicAttribute, Integer> target = new TreeMap<>(originals);
        target.putAll(wanted);
        target.keySet().retainAll(observed.keySet());
        // An attribute that is invisible now, such as an interface in a pod, is restored after it reappears.
        Set<NicAttribute> remembered = new HashSet<>(originals.keySet());
        remembered.removeAll(observed.keySet());
        if (policy.isPresent() && policy.get().provisionedBy() != ProvisionedBy.NODE_AGENT) {
            target.keySet().removeIf(attribute -> !attribute.isSwitch());
            wanted.keySet().removeIf(attribute -> !attribute.isSwitch());
            remembered.removeIf(attribute -> !attribute.isSwitch());
        }

        wanted.forEach((attribute, value) -> {
            Integer original = originals.getOrDefault(attribute, observed.get(attribute));
            if (!value.equals(original)) {
                remembered.add(attribute);
            }
        });
        List<Change> changes = new ArrayList<>(changes(nic.address(), observed, target));
        List<Change> functionMtus = new ArrayList<>(changes);
        changes.removeIf(change -> change.attribute().kind() == Kind.FUNCTION_MTU);
        functionMtus.removeAll(changes);
        if (changes.stream().anyMatch(change -> change.attribute().kind() == Kind.VIRTUAL_FUNCTIONS)) {
            // The present virtual functions go, and with them their interfaces.
            functionMtus.clear();
            remembered.removeIf(attribute -> attribute.kind() == Kind.FUNCTION_MTU);
        }
        return new ProvisioningPlan(changes, functionMtus, refusals, remembered);
    }

    private static void keep(
            NicAttribute attribute, Map<NicAttribute, Integer> observed, Map<NicAttribute, Integer> wanted) {
        Integer present = observed.get(attribute);
        if (present == null) {
            wanted.remove(attribute);
        } else {
            wanted.put(attribute, present);
        }
    }

    /** Returns the present values of a NIC's attributes; attributes that the NIC lacks are absent. */
    private static SortedMap<NicAttribute, Integer> observed(Nic nic) {
        SortedMap<NicAttribute, Integer> observed = new TreeMap<>();
        nic.enableIwarp().ifPresent(on -> observed.put(NicAttribute.IWARP, on ? 1 : 0));
        nic.enableRoce().ifPresent(on -> observed.put(NicAttribute.ROCE, on ? 1 : 0));
        nic.interfaces()
                .forEach(networkInterface -> networkInterface
                        .mtu()
                        .ifPresent(mtu -> observed.put(NicAttribute.mtu(networkInterface.name()), mtu)));
        nic.sriov().ifPresent(sriov -> observed.put(NicAttribute.VIRTUAL_FUNCTIONS, sriov.number()));
        nic.functionInterfaces()
                .forEach(networkInterface -> networkInterface
                        .mtu()
                        .ifPresent(mtu -> observed.put(NicAttribute.functionMtu(networkInterface.name()), mtu)));
        return observed;
    }

    private static SortedMap<NicAttribute, Integer> wanted(Nic nic, NodePolicy policy) {
        SortedMap<NicAttribute, Integer> wanted = new TreeMap<>();
        Boolean iwarp = policy.enableIwarp();
        if (nic.enableIwarp().isPresent() && iwarp != null) {
            wanted.put(NicAttribute.IWARP, iwarp ? 1 : 0);
            if (iwarp && nic.enableRoce().isPresent()) {
                // RoCE and iWARP exclude each other.
                wanted.put(NicAttribute.ROCE, 0);
            }
        }
        Integer mtu = policy.mtu();
        if (mtu != null) {
            nic.interfaces().forEach(each -> wanted.put(NicAttribute.mtu(each.name()), mtu));
            nic.functionInterfaces().forEach(each -> wanted.put(NicAttribute.functionMtu(each.name()), mtu));
        }
        if (policy.virtualFunctions() != null) {
            wanted.put(NicAttribute.VIRTUAL_FUNCTIONS, policy.virtualFunctions());
        }
        return wanted;
    }

    private static List<String> refuseUnreadable(
            Nic nic, Optional<NodePolicy> policy, Map<NicAttribute, Integer> originals) {
        boolean isNeeded = policy.map(NodePolicy::enableIwarp).isPresent()
                || originals.keySet().stream().anyMatch(NicAttribute::isSwitch);
        return isNeeded
                ? nic.unreadable().stream()
                        .map(reason -> reason + ". The kernel's log may tell more.")
                        .toList()
                : List.of();
    }

    private static Optional<String> refuse(Nic nic, NodePolicy policy) {
        if (nic.rdmaDevices().isEmpty() || nic.isIwarpCapable()) {
            return Optional.empty();
        }
        RdmaDevice device = nic.rdmaDevices().getFirst();
        return Optional.of("its RDMA device " + device.name() + " does not speak iWARP (it is a " + device.nodeType()
                + "). Exclude the NIC in the selector of policy " + policy.name()
                + ", or let its firmware speak iWARP if it can.");
    }

    private static Optional<String> refuseVirtualFunctions(Nic nic, NodePolicy policy) {
        int total = nic.sriov().map(SrIov::total).orElse(0);
        int number = Objects.requireNonNullElse(policy.virtualFunctions(), 0);
        if (number == 0 || number <= total && nic.driver().isPresent()) {
            return Optional.empty();
        }
        String wish = "policy " + policy.name() + " wants " + number + " virtual functions";
        if (total == 0) {
            return Optional.of(
                    wish + " and the NIC has no SR-IOV. Switch it on in the firmware of the node and of the NIC,"
                            + " or let the policy not select the NIC.");
        }
        if (number > total) {
            return Optional.of(wish + " and the NIC has at most " + total + ".");
        }
        return Optional.of(wish + " and no driver is bound to the NIC. Load it on the node.");
    }

    private static List<Change> changes(
            PciAddress nic, Map<NicAttribute, Integer> observed, SortedMap<NicAttribute, Integer> target) {
        List<Change> switchedOff = new ArrayList<>();
        List<Change> switchedOn = new ArrayList<>();
        List<Change> others = new ArrayList<>();
        target.forEach((attribute, to) -> {
            int from = observed.getOrDefault(attribute, to);
            if (from == to) {
                return;
            }
            if (attribute.isSwitch()) {
                // iWARP and RoCE exclude each other: one is switched off before the other is switched on.
                (to == 0 ? switchedOff : switchedOn).add(new Change(nic, attribute, from, to));
            } else if (attribute.kind() == Kind.VIRTUAL_FUNCTIONS && from > 0 && to > 0) {
                // The kernel accepts a new number only while there are no virtual functions (EBUSY).
                others.add(new Change(nic, attribute, from, 0));
                others.add(new Change(nic, attribute, 0, to));
            } else {
                others.add(new Change(nic, attribute, from, to));
            }
        });
        List<Change> changes = new ArrayList<>(switchedOff);
        changes.addAll(switchedOn);
        changes.addAll(others);
        return changes;
    }
}
