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
 * NICs whose RDMA devices may still appear. A function and its interface appear first; the driver probes the RDMA
 * device separately, some seconds later. Until then the NIC looks like one without RDMA in its virtual functions. The
 * node looks like one without RNICs, and pods would get the wrong devices. Some NICs really have no such RDMA, so the
 * wait is limited.
 */
final class AwaitedRdma {
    private record Progress(int present, Duration since) {}

    private final Duration patience;
    private final Map<PciAddress, Integer> knownFunctions = new HashMap<>();
    private final Map<PciAddress, Progress> awaited = new HashMap<>();

    /**
     * Makes an empty set of awaited NICs.
     *
     * @param patience time without a new RDMA device after which no more are expected
     */
    AwaitedRdma(Duration patience) {
        this.patience = patience;
    }

    /**
     * Returns the NICs to wait for, and describes what they lack.
     *
     * @param inventory NICs that discovery has found
     * @param ruled addresses of NICs that a policy selects
     * @param results changes that were just made
     * @param now time of a monotonic clock
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
                        nic.name() + " has " + present(nic) + " of " + expected(nic)
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

    /** Returns one device for each virtual function, or one for a NIC without virtual functions. */
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
