// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.nic.Inventory;
import io.sidewarp.operator.agent.nic.Nic;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.ProvisioningResult;
import io.sidewarp.operator.agent.nic.RdmaDevice;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * NICs whose RDMA devices may still come. A function and its interface are there first; its RDMA device is probed on its own,
 * some seconds later. Until then the NIC looks like one whose virtual functions have no RDMA, and its node like one without
 * RNICs: pods would be given what is not theirs. There are such NICs, so the time for it is limited.
 */
final class AwaitedRdma {
    private record Progress(int present, Duration since) {}

    private final Duration patience;
    private final Map<PciAddress, Integer> knownFunctions = new HashMap<>();
    private final Map<PciAddress, Progress> awaited = new HashMap<>();

    /** @param patience from the last RDMA device on, until no more are expected */
    AwaitedRdma(Duration patience) {
        this.patience = patience;
    }

    /**
     * The NICs that are waited for, and what they lack.
     *
     * @param ruled addresses of NICs that a policy rules
     * @param results what was changed just now
     * @param now by a clock that nobody sets
     */
    Map<PciAddress, String> of(
            Inventory inventory, Set<PciAddress> ruled, List<ProvisioningResult> results, Duration now) {
        Map<PciAddress, String> lacking = new TreeMap<>();
        for (Nic nic : inventory.nics()) {
            PciAddress address = nic.address();
            int functions = nic.virtualFunctions().size();
            Integer before = knownFunctions.put(address, functions);
            boolean more = before != null && functions > before;
            if (more || results.stream().anyMatch(result -> result.nic().equals(address) && result.bringsRdma())) {
                awaited.put(address, new Progress(0, now));
            }
            if (!ruled.contains(address) || !nic.isIwarpCapable() || !lacksRdma(nic, now)) {
                awaited.remove(address);
            } else {
                lacking.put(
                        address,
                        NodeStatus.nameOf(nic) + " has " + present(nic) + " of " + expected(nic)
                                + " RDMA devices that its driver may make after the change");
            }
        }
        return lacking;
    }

    private boolean lacksRdma(Nic nic, Duration now) {
        Progress progress = awaited.get(nic.address());
        int present = present(nic);
        if (progress == null || present >= expected(nic)) {
            return false;
        }
        if (present > progress.present()) {
            awaited.put(nic.address(), new Progress(present, now));
            return true;
        }
        return now.minus(progress.since()).compareTo(patience) < 0;
    }

    /** One of each virtual function, or of the NIC itself where it has none. */
    private static int expected(Nic nic) {
        return Math.max(1, nic.virtualFunctions().size());
    }

    private static int present(Nic nic) {
        return nic.virtualFunctions().isEmpty()
                ? isOffered(nic.rdmaDevices()) ? 1 : 0
                : (int) nic.virtualFunctions().stream()
                        .filter(function -> isOffered(function.rdmaDevices()))
                        .count();
    }

    private static boolean isOffered(List<RdmaDevice> devices) {
        return devices.stream()
                .anyMatch(device -> device.isIwarp() && device.uverbs().isPresent());
    }
}
