// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.RdmaLink;
import io.sidewarp.operator.agent.nic.RdmaDevice.NodeType;
import io.sidewarp.operator.agent.nic.RdmaDevice.RdmaPort;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Finds the RDMA devices of the kernel. Only reads, and changes nothing. */
final class RdmaDevices {

    private static final String RDMA_CLASS = "class/infiniband";
    private static final String VERBS_CLASS = "class/infiniband_verbs";

    /**
     * Attribute node_desc of siw, which identifies its devices. Some kernels before 5.10 show them below the PCI
     * function of the interface.
     */
    private static final String SIW_DESCRIPTION = "Software iWARP stack";

    /** Number of the state IB_PORT_ACTIVE, as in {@code 4: ACTIVE}. */
    private static final String ACTIVE = "4:";

    private final Host host;

    RdmaDevices(Host host) {
        this.host = host;
    }

    List<RdmaDevice> all() throws HostException {
        Map<String, RdmaLink> links = new HashMap<>();
        host.rdmaLinks().forEach(link -> links.put(link.name(), link));
        Map<String, String> uverbs = uverbs();
        List<RdmaDevice> devices = new ArrayList<>();
        for (String name : host.list(RDMA_CLASS)) {
            devices.add(device(name, Optional.ofNullable(links.get(name)), Optional.ofNullable(uverbs.remove(name))));
        }
        devices.addAll(elsewhere(devices, uverbs));
        return devices;
    }

    /**
     * Returns the RDMA devices of virtual functions in other network namespaces. Pods have such devices in the
     * exclusive mode of the RDMA subsystem. Only their device nodes are visible here, since device nodes have no
     * namespace. These devices speak the protocol of the physical function.
     *
     * @param seen devices of this network namespace
     * @param uverbs names of the other device nodes, by RDMA device
     */
    private List<RdmaDevice> elsewhere(List<RdmaDevice> seen, Map<String, String> uverbs) {
        List<RdmaDevice> found = new ArrayList<>();
        uverbs.forEach((name, node) -> {
            Optional<PciAddress> function = PciAddress.at(host, VERBS_CLASS + "/" + node + "/device");
            Optional<PciAddress> physical = function.flatMap(of -> PciAddress.at(host, of.directory() + "/physfn"));
            seen.stream()
                    .filter(device -> physical.isPresent() && device.function().equals(physical))
                    .findFirst()
                    .ifPresent(sibling -> found.add(new RdmaDevice(
                            name, sibling.nodeType(), function, Optional.empty(), List.of(), Optional.of(node), true)));
        });
        return found;
    }

    /** Returns the names of device nodes, by RDMA device. */
    private Map<String, String> uverbs() {
        Map<String, String> nodes = new TreeMap<>();
        for (String node : host.list(VERBS_CLASS)) {
            host.read(VERBS_CLASS + "/" + node + "/ibdev").ifPresent(device -> nodes.put(device, node));
        }
        return nodes;
    }

    private RdmaDevice device(String name, Optional<RdmaLink> link, Optional<String> uverbs) {
        String directory = RDMA_CLASS + "/" + name;
        Optional<String> firmware = host.read(directory + "/fw_ver").filter(version -> !version.isEmpty());
        return new RdmaDevice(
                name,
                NodeType.parse(host.read(directory + "/node_type").orElse("")),
                function(directory),
                firmware,
                ports(directory, link),
                uverbs,
                false);
    }

    private Optional<PciAddress> function(String directory) {
        if (host.read(directory + "/node_desc").orElse("").equals(SIW_DESCRIPTION)) {
            return Optional.empty();
        }
        return PciAddress.at(host, directory + "/device");
    }

    private List<RdmaPort> ports(String directory, Optional<RdmaLink> link) {
        List<RdmaPort> ports = new ArrayList<>();
        for (String entry : host.list(directory + "/ports")) {
            Host.natural(entry).ifPresent(number -> {
                String port = directory + "/ports/" + entry;
                Optional<String> networkInterface = link.map(
                                known -> known.interfaces().get(number))
                        // Fallback if netlink names no interface. The kernel fills this file only together with the
                        // first address.
                        .or(() -> host.read(port + "/gid_attrs/ndevs/0").filter(name -> !name.isEmpty()));
                boolean active = host.read(port + "/state").orElse("").startsWith(ACTIVE);
                ports.add(new RdmaPort(number, active, networkInterface));
            });
        }
        ports.sort(Comparator.comparingInt(RdmaPort::number));
        return ports;
    }
}
