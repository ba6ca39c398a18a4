// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.nic.Inventory;
import io.sidewarp.operator.agent.nic.Nic;
import io.sidewarp.operator.agent.nic.NicDiscovery;
import io.sidewarp.operator.agent.nic.NicProvisioner;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.ProvisioningResult;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Outcome;
import io.sidewarp.operator.agent.siw.SiwLinks;
import io.sidewarp.operator.agent.siw.SiwLinks.SiwLink;
import io.sidewarp.operator.agent.siw.SiwLinks.SiwUnavailableException;
import io.sidewarp.operator.api.v1alpha1.DrainSpec;
import io.sidewarp.operator.api.v1alpha1.Fallback;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Brings a node into the state that its IwarpNode asks for, and describes the resulting state. Failures are reported
 * and retried at the next look. Not thread-safe.
 */
final class NodeObserver {
    private final NicProvisioner provisioner;
    private final NicDiscovery discovery;
    private final SiwLinks siwLinks;
    private final DevicesInUse inUse;
    private final AwaitedRdma awaitedRdma;
    private final Predicate<String> hasEnded;
    private final NicDrain drain = new NicDrain();

    /**
     * Makes the observer of a node.
     *
     * @param hasEnded tells whether a pod, as namespace/name, has ended
     */
    NodeObserver(
            NicProvisioner provisioner,
            NicDiscovery discovery,
            SiwLinks siwLinks,
            DevicesInUse inUse,
            AwaitedRdma awaitedRdma,
            Predicate<String> hasEnded) {
        this.provisioner = provisioner;
        this.discovery = discovery;
        this.siwLinks = siwLinks;
        this.inUse = inUse;
        this.awaitedRdma = awaitedRdma;
        this.hasEnded = hasEnded;
    }

    /**
     * Carries out a specification as far as is possible now.
     *
     * @throws HostException if even discovery of the NICs fails
     */
    NodeObservation look(IwarpNodeSpec spec, Duration now) throws HostException {
        Inventory before = discovery.discover();
        ProvisionedNics provisioned = provision(before, spec, now);
        Inventory inventory = provisioned.changes(before) ? discovery.discover() : before;
        Map<PciAddress, String> lagging = provisioned.lagging(inventory, spec.policies());
        lagging.forEach(provisioned::await);
        Map<PciAddress, Integer> foreign = foreign(inventory, provisioned.ruled, spec);
        Map<PciAddress, String> missing = missing(inventory, foreign);
        Map<PciAddress, String> awaited =
                awaitedRdma.of(inventory, provisioned.ruled.keySet(), provisioned.results, now);
        missing.forEach(provisioned::await);
        awaited.forEach(provisioned::await);
        Optional<Map<String, List<String>>> users = users();
        List<RnicDevice> hardware = DeviceOffer.hardware(
                inventory, provisioned.ruled, foreign, awaited.keySet(), provisioned.drained, users.map(Map::keySet));
        if (!inventory.connectionManager()) {
            hardware = hardware.stream()
                    .map(NodeObserver::withoutConnectionManager)
                    .toList();
        }
        faults(inventory, hardware).forEach(provisioned::explain);
        outOfReach(inventory, provisioned.ruled, spec, users.orElseGet(Map::of)).forEach(provisioned::explain);
        ChosenProvider chosen = choose(spec, hardware, !awaited.isEmpty(), users);
        return new NodeObservation(
                NodeStatus.nics(inventory, provisioned, users.orElseGet(Map::of)),
                chosen.siwState(),
                chosen.devices,
                chosen.provider(),
                chosen.counts(),
                join(provisioned.failed, chosen.failed),
                join(provisioned.waiting, chosen.waiting),
                chosen.passedOver,
                List.copyOf(missing.values()),
                List.copyOf(awaited.values()),
                List.copyOf(lagging.values()),
                List.copyOf(provisioned.evictions));
    }

    private static List<String> join(List<String> first, List<String> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    /** Makes the changes that policies want, and names the pods to evict where a policy permits it. */
    private ProvisionedNics provision(Inventory inventory, IwarpNodeSpec spec, Duration now) throws HostException {
        ProvisionedNics provisioned = new ProvisionedNics(provisioner.apply(inventory, spec.policies()));
        for (ProvisioningResult result : provisioned.results) {
            if (result.message().isPresent()) {
                provisioned.report(result, await(result, spec, provisioned, now));
            }
            if (result.outcome() != Outcome.WAITING) {
                drain.done(result.nic());
            }
        }
        return provisioned;
    }

    /**
     * Chooses the provider of the node: hardware, or the first fallback that works. Without hardware, but with RDMA
     * devices that may still come, no fallback is chosen.
     */
    private ChosenProvider choose(
            IwarpNodeSpec spec,
            List<RnicDevice> hardware,
            boolean hardwareMayCome,
            Optional<Map<String, List<String>>> users)
            throws HostException {
        ChosenProvider chosen = new ChosenProvider(hardware);
        boolean undecided = hardware.isEmpty() && hardwareMayCome;
        boolean keepsSiw = undecided;
        for (Fallback fallback : hardware.isEmpty() && !undecided ? spec.fallback() : List.<Fallback>of()) {
            if (fallback == Fallback.KERNEL_SIW && chosen.provider().isEmpty()) {
                try {
                    SiwLink link = siwLinks.ensure(siwInterface(spec, users, chosen.waiting));
                    keepsSiw = true;
                    chosen.kernelSiw(DeviceOffer.kernelSiw(
                            link,
                            discovery.networkInterface(link.networkInterface()),
                            spec.siw().devices()));
                } catch (SiwUnavailableException e) {
                    (spec.fallback().contains(Fallback.SOFTWARE) ? chosen.passedOver : chosen.failed)
                            .add("siw: " + e.getMessage());
                }
            } else if (fallback == Fallback.SOFTWARE) {
                chosen.software(spec.software().devices());
            }
        }
        if (!keepsSiw) {
            releaseSiw(users, chosen.failed, chosen.waiting);
        }
        return chosen;
    }

    /** Returns the number of virtual functions that the SR-IOV network operator has to make on each of its NICs. */
    private static Map<PciAddress, Integer> foreign(
            Inventory inventory, Map<PciAddress, String> ruled, IwarpNodeSpec spec) {
        Map<PciAddress, Integer> foreign = new HashMap<>();
        for (NodePolicy policy : spec.policies()) {
            if (policy.provisionedBy() == ProvisionedBy.SRIOV_NETWORK_OPERATOR && policy.virtualFunctions() != null) {
                int wanted = policy.virtualFunctions();
                inventory.nics().stream()
                        .filter(nic -> policy.name().equals(ruled.get(nic.address())))
                        // Larger numbers than the NIC supports were refused.
                        .filter(nic -> nic.sriov()
                                .filter(sriov -> sriov.total() >= wanted)
                                .isPresent())
                        .forEach(nic -> foreign.put(nic.address(), wanted));
            }
        }
        return foreign;
    }

    private static Map<PciAddress, String> missing(Inventory inventory, Map<PciAddress, Integer> foreign) {
        Map<PciAddress, String> missing = new TreeMap<>();
        for (Nic nic : inventory.nics()) {
            int present = nic.virtualFunctions().size();
            int wanted = foreign.getOrDefault(nic.address(), 0);
            if (present < wanted) {
                missing.put(
                        nic.address(),
                        nic.name() + " has " + present + " of " + wanted
                                + " virtual functions that the SR-IOV network operator shall make;"
                                + " its SriovNetworkNodeState of this node tells why");
            }
        }
        return missing;
    }

    /** Returns the device as faulty, since the container runtime would refuse a container without its device node. */
    private static RnicDevice withoutConnectionManager(RnicDevice device) {
        return device.healthy()
                ? device.faulty("the node has no /dev/infiniband/rdma_cm; load the module rdma_ucm on the node")
                : device;
    }

    /** Returns remarks on virtual functions whose MTU the agent cannot set, since their interfaces are in pods. */
    private static Map<PciAddress, String> outOfReach(
            Inventory inventory, Map<PciAddress, String> ruled, IwarpNodeSpec spec, Map<String, List<String>> users) {
        Map<PciAddress, String> remarks = new HashMap<>();
        for (NodePolicy policy : spec.policies()) {
            if (policy.mtu() == null || policy.provisionedBy() != ProvisionedBy.NODE_AGENT) {
                continue;
            }
            for (Nic nic : inventory.nics()) {
                String inPods = nic.virtualFunctions().stream()
                        .filter(function -> function.interfaces().isEmpty())
                        .map(function -> function.address().value())
                        .filter(users::containsKey)
                        .map(function -> function + " (" + String.join(", ", users.get(function)) + ")")
                        .collect(Collectors.joining(", "));
                if (policy.name().equals(ruled.get(nic.address())) && !inPods.isEmpty()) {
                    remarks.put(
                            nic.address(),
                            "The agent cannot set the MTU of virtual functions that are in pods: " + inPods);
                }
            }
        }
        return remarks;
    }

    /** Returns the reasons why devices of NICs cannot be used. */
    private static Map<PciAddress, String> faults(Inventory inventory, List<RnicDevice> devices) {
        Map<PciAddress, String> faults = new HashMap<>();
        for (Nic nic : inventory.nics()) {
            Set<String> functions = Stream.concat(
                            Stream.of(nic.address()),
                            nic.virtualFunctions().stream().map(Nic.VirtualFunction::address))
                    .map(PciAddress::value)
                    .collect(Collectors.toSet());
            String all = devices.stream()
                    .filter(device -> functions.contains(device.id()))
                    .flatMap(device -> device.fault().stream())
                    .distinct()
                    .collect(Collectors.joining("; "));
            if (!all.isEmpty()) {
                faults.put(nic.address(), "Cannot be used: " + all);
            }
        }
        return faults;
    }

    /**
     * Names the pods to evict from a waiting NIC if its policy says so. Returns whether the wait takes too long.
     */
    private boolean await(ProvisioningResult result, IwarpNodeSpec spec, ProvisionedNics provisioned, Duration now) {
        if (result.outcome() != Outcome.WAITING) {
            return false;
        }
        DrainSpec drainSpec = spec.policies().stream()
                .filter(policy -> result.policy().equals(Optional.of(policy.name())))
                .map(NodePolicy::drain)
                .findFirst()
                // A NIC is being restored: its policy is gone, and with it the permission to evict.
                .orElseGet(() -> new DrainSpec(false, null));
        if (drainSpec.enabled()) {
            // Comes before the first eviction, so that a replacement pod does not get the same functions.
            provisioner.withhold(result);
            provisioned.drained.addAll(result.functions());
        }
        provisioned.evictions.addAll(drain.evictions(result, drainSpec, now));
        return drain.isOverdue(result.nic(), drainSpec, now);
    }

    /** Returns the pods that have devices; empty if the kubelet does not answer. */
    private Optional<Map<String, List<String>>> users() {
        try {
            return Optional.of(inUse.users());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Returns the interface for siw. The present interface of the agent's siw device takes precedence while pods use
     * it.
     */
    private Optional<String> siwInterface(
            IwarpNodeSpec spec, Optional<Map<String, List<String>>> users, List<String> waiting) throws HostException {
        Optional<String> wanted = Optional.ofNullable(spec.siw().interfaceName());
        Optional<String> present = usersOfSiw(users).isEmpty() ? Optional.empty() : siwLinks.ownInterface();
        if (wanted.isPresent() && present.isPresent() && !wanted.equals(present)) {
            if (isSiwFree(users)) {
                return wanted;
            }
            waiting.add("the siw device stays on " + present.get() + " until no pod uses it");
        }
        return present.or(() -> wanted);
    }

    /** Returns whether no pod uses a siw device any more; false if the kubelet does not answer. */
    private boolean isSiwFree(Optional<Map<String, List<String>>> users) {
        return usersOfSiw(users).stream().allMatch(hasEnded);
    }

    /** Returns the pods that have siw devices, also those that have ended; unknown pods if the kubelet is silent. */
    private static List<String> usersOfSiw(Optional<Map<String, List<String>>> users) {
        return users.map(known -> known.entrySet().stream()
                        .filter(device -> device.getKey().startsWith(RnicDevice.SIW_PREFIX))
                        .flatMap(device -> device.getValue().stream())
                        .distinct()
                        .toList())
                .orElseGet(() -> List.of("unknown pods"));
    }

    /** Removes the agent's own siw device, which is no longer needed. The device stays while pods may use it. */
    private void releaseSiw(Optional<Map<String, List<String>>> users, List<String> failed, List<String> waiting) {
        try {
            if (isSiwFree(users)) {
                siwLinks.removeAll();
                return;
            }
            String reason = users.isPresent() ? "until no pod uses it" : "while the kubelet does not tell who uses it";
            siwLinks.ownInterface()
                    .ifPresent(present -> waiting.add("the siw device on " + present + " stays " + reason));
        } catch (HostException e) {
            failed.add("the agent's siw device cannot be removed: " + e.getMessage());
        }
    }
}
