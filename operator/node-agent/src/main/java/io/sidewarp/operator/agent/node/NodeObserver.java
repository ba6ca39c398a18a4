// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.deviceplugin.DeviceUser;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.deviceplugin.RnicDevice;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.nic.Inventory;
import io.sidewarp.operator.agent.nic.Nic;
import io.sidewarp.operator.agent.nic.NicDiscovery;
import io.sidewarp.operator.agent.nic.NicMatcher;
import io.sidewarp.operator.agent.nic.NicPolicy;
import io.sidewarp.operator.agent.nic.NicProvisioner;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.ProvisioningResult;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Outcome;
import io.sidewarp.operator.agent.nic.VirtualFunction;
import io.sidewarp.operator.agent.siw.SiwLink;
import io.sidewarp.operator.agent.siw.SiwLinks;
import io.sidewarp.operator.agent.siw.SiwUnavailableException;
import io.sidewarp.operator.api.v1alpha1.DrainSpec;
import io.sidewarp.operator.api.v1alpha1.Fallback;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProviderCounts;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Brings a node into the state that its IwarpNode asks for, and describes the resulting state. Failures are reported
 * and retried at the next look. Not thread-safe.
 */
final class NodeObserver {
    private static final String SIW_DEVICE_ID = "siw/";

    private final NicProvisioner provisioner;
    private final NicDiscovery discovery;
    private final SiwLinks siwLinks;
    private final DevicesInUse inUse;
    private final AwaitedRdma awaitedRdma;
    private final Drain drain;

    NodeObserver(
            NicProvisioner provisioner,
            NicDiscovery discovery,
            SiwLinks siwLinks,
            DevicesInUse inUse,
            AwaitedRdma awaitedRdma,
            Drain drain) {
        this.provisioner = provisioner;
        this.discovery = discovery;
        this.siwLinks = siwLinks;
        this.inUse = inUse;
        this.awaitedRdma = awaitedRdma;
        this.drain = drain;
    }

    /**
     * Carries out a specification as far as is possible now.
     *
     * @throws HostException if even discovery of the NICs fails
     */
    NodeObservation look(IwarpNodeSpec spec, Duration now) throws HostException {
        List<String> failed = new ArrayList<>();
        List<String> waiting = new ArrayList<>();
        List<String> passedOver = new ArrayList<>();
        Map<PciAddress, ProvisioningState> states = new HashMap<>();
        Map<PciAddress, String> messages = new HashMap<>();
        Map<PciAddress, String> ruled = new HashMap<>();
        Set<PciAddress> drained = new HashSet<>();
        List<ProvisioningResult> results = provisioner.apply(
                spec.policies().stream().map(NodeObserver::policy).toList());
        for (ProvisioningResult result : results) {
            result.policy().ifPresent(policy -> ruled.put(result.nic(), policy));
            result.message().ifPresent(message -> {
                messages.put(result.nic(), message);
                boolean overdue = await(result, spec, drained, now);
                boolean isWaiting = result.outcome() == Outcome.WAITING && !overdue;
                states.put(result.nic(), isWaiting ? ProvisioningState.WAITING : ProvisioningState.FAILED);
                (isWaiting ? waiting : failed).add(result.nic() + ": " + message);
            });
            if (result.outcome() != Outcome.WAITING) {
                drain.done(result.nic());
            }
        }

        Inventory inventory = discovery.discover();
        Map<PciAddress, Integer> foreign = foreign(inventory, ruled, spec);
        Map<PciAddress, String> missing = missing(inventory, foreign);
        Map<PciAddress, String> awaited = awaitedRdma.of(inventory, ruled.keySet(), results, now);
        for (Map<PciAddress, String> waits : List.of(missing, awaited)) {
            waits.forEach((nic, message) -> {
                states.putIfAbsent(nic, ProvisioningState.WAITING);
                messages.putIfAbsent(nic, message);
            });
        }
        Optional<Map<String, List<DeviceUser>>> users = users();
        List<RnicDevice> devices = new ArrayList<>(
                DeviceOffer.hardware(inventory, ruled, foreign, awaited.keySet(), drained, users.map(Map::keySet)));
        faults(inventory, devices).forEach(messages::putIfAbsent);
        List<String> siwFailed = new ArrayList<>();
        List<String> siwWaiting = new ArrayList<>();
        int hardware = devices.size();
        int siw = 0;
        int software = 0;
        Optional<ProviderKind> provider = devices.isEmpty() ? Optional.empty() : Optional.of(ProviderKind.HARDWARE);
        // The fallback is chosen only after the node's own RDMA devices are known.
        boolean isUndecided = provider.isEmpty() && !awaited.isEmpty();
        boolean keepsSiw = isUndecided;
        for (Fallback fallback : provider.isPresent() || isUndecided ? List.<Fallback>of() : spec.fallback()) {
            if (fallback == Fallback.KERNEL_SIW && provider.isEmpty()) {
                try {
                    SiwLink link = siwLinks.ensure(siwInterface(spec, users, siwWaiting));
                    keepsSiw = true;
                    devices.addAll(DeviceOffer.kernelSiw(link, spec.siw().devices()));
                    siw = devices.size();
                    provider = Optional.of(ProviderKind.KERNEL_SIW);
                } catch (SiwUnavailableException e) {
                    (spec.fallback().contains(Fallback.SOFTWARE) ? passedOver : siwFailed)
                            .add("siw: " + e.getMessage());
                }
            } else if (fallback == Fallback.SOFTWARE) {
                software = spec.software().devices();
                if (provider.isEmpty()) {
                    devices.addAll(DeviceOffer.software(software));
                    provider = Optional.of(ProviderKind.SOFTWARE);
                }
            }
        }
        if (!keepsSiw) {
            releaseSiw(users, siwFailed, siwWaiting);
        }
        failed.addAll(siwFailed);
        waiting.addAll(siwWaiting);
        Map<String, List<DeviceUser>> known = users.orElseGet(Map::of);
        Map<String, List<String>> pods =
                known.keySet().stream().collect(Collectors.toMap(id -> id, id -> FunctionsInUse.users(known, id)));
        return new NodeObservation(
                NodeStatus.nics(inventory, ruled, states, messages, pods),
                state(siwFailed, siwWaiting),
                devices,
                provider,
                new ProviderCounts(hardware, siw, software),
                failed,
                waiting,
                passedOver,
                List.copyOf(missing.values()),
                List.copyOf(awaited.values()));
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
                        NodeStatus.nameOf(nic) + " has " + present + " of " + wanted
                                + " virtual functions that the SR-IOV network operator shall make;"
                                + " its SriovNetworkNodeState of this node tells why");
            }
        }
        return missing;
    }

    /** Returns the reasons why devices of NICs cannot be used. */
    private static Map<PciAddress, String> faults(Inventory inventory, List<RnicDevice> devices) {
        Map<PciAddress, String> faults = new HashMap<>();
        for (Nic nic : inventory.nics()) {
            Set<String> functions = Stream.concat(
                            Stream.of(nic.address()),
                            nic.virtualFunctions().stream().map(VirtualFunction::address))
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

    /** Evicts pods from a waiting NIC if its policy says so. Returns whether the wait takes too long. */
    private boolean await(ProvisioningResult result, IwarpNodeSpec spec, Set<PciAddress> drained, Duration now) {
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
            drained.addAll(result.functions());
        }
        drain.evict(result, drainSpec, now);
        return drain.isOverdue(result.nic(), drainSpec, now);
    }

    /** Returns the users of devices; empty if the kubelet does not answer. */
    private Optional<Map<String, List<DeviceUser>>> users() {
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
            IwarpNodeSpec spec, Optional<Map<String, List<DeviceUser>>> users, List<String> waiting)
            throws HostException {
        Optional<String> wanted = Optional.ofNullable(spec.siw().interfaceName());
        Optional<String> present = isSiwInUse(users) ? siwLinks.ownInterface() : Optional.empty();
        if (wanted.isPresent() && present.isPresent() && !wanted.equals(present)) {
            waiting.add("the siw device stays on " + present.get() + " until no pod uses it");
        }
        return present.or(() -> wanted);
    }

    /** Returns whether pods use a siw device; true if the kubelet does not answer. */
    private static boolean isSiwInUse(Optional<Map<String, List<DeviceUser>>> users) {
        return users.isEmpty() || users.get().keySet().stream().anyMatch(id -> id.startsWith(SIW_DEVICE_ID));
    }

    /** Removes the agent's own siw device, which is no longer needed. The device stays while pods may use it. */
    private void releaseSiw(Optional<Map<String, List<DeviceUser>>> users, List<String> failed, List<String> waiting) {
        try {
            if (!isSiwInUse(users)) {
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

    private static ProvisioningState state(List<String> failed, List<String> waiting) {
        if (!failed.isEmpty()) {
            return ProvisioningState.FAILED;
        }
        return waiting.isEmpty() ? ProvisioningState.DONE : ProvisioningState.WAITING;
    }

    private static NicPolicy policy(NodePolicy policy) {
        return new NicPolicy(
                policy.name(),
                new NicMatcher(
                        policy.nicSelector().vendors(),
                        policy.nicSelector().deviceIds(),
                        policy.nicSelector().drivers(),
                        policy.nicSelector().pfNames(),
                        policy.nicSelector().pciAddresses().stream()
                                .map(PciAddress::new)
                                .toList()),
                policy.provisionedBy() == ProvisionedBy.NODE_AGENT,
                optional(policy.virtualFunctions()),
                optional(policy.mtu()),
                Optional.ofNullable(policy.enableIwarp()));
    }

    private static OptionalInt optional(@Nullable Integer value) {
        return value == null ? OptionalInt.empty() : OptionalInt.of(value);
    }
}
