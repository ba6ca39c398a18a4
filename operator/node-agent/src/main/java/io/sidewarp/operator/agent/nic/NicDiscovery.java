// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.host.DevlinkParameter;
import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.nic.Nic.NetworkInterface;
import io.sidewarp.operator.agent.nic.Nic.SrIov;
import io.sidewarp.operator.agent.nic.Nic.VirtualFunction;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Finds the NICs and RDMA devices of a node. Only reads, and changes nothing. */
public final class NicDiscovery {

    static final String ENABLE_IWARP = "enable_iwarp";
    static final String ENABLE_ROCE = "enable_roce";

    private static final String PCI_DEVICES = "bus/pci/devices";

    /** First byte of the class of network controllers (PCI Code and ID Assignment Specification, section 1.3). */
    private static final String NETWORK_CLASS = "0x02";

    private static final String VIRTUAL_FUNCTION = "virtfn";

    private final Host host;

    public NicDiscovery(Host host) {
        this.host = host;
    }

    /**
     * Finds the present NICs and RDMA devices. Other values that cannot be read are left empty.
     *
     * @throws HostException if RDMA netlink fails
     */
    public Inventory discover() throws HostException {
        List<RdmaDevice> rdmaDevices = new RdmaDevices(host).all();
        List<Nic> nics = new ArrayList<>();
        for (String name : host.list(PCI_DEVICES)) {
            Optional<PciAddress> address = PciAddress.parse(name);
            if (address.isPresent() && isPhysicalNetworkFunction(address.get())) {
                nic(address.get(), rdmaDevices).ifPresent(nics::add);
            }
        }
        return new Inventory(
                nics,
                rdmaDevices.stream()
                        .filter(device -> device.function().isEmpty())
                        .toList(),
                host.exists(Inventory.CONNECTION_MANAGER));
    }

    private boolean isPhysicalNetworkFunction(PciAddress address) {
        return host.read(address.directory() + "/class").orElse("").startsWith(NETWORK_CLASS)
                && !host.exists(address.directory() + "/physfn");
    }

    private Optional<Nic> nic(PciAddress address, List<RdmaDevice> all) {
        List<RdmaDevice> rdmaDevices = of(address, all);
        Optional<SrIov> sriov = sriov(address, all);
        if (rdmaDevices.isEmpty() && sriov.isEmpty()) {
            return Optional.empty();
        }
        List<String> unreadable = new ArrayList<>();
        return Optional.of(new Nic(
                address,
                id(address, "vendor"),
                id(address, "device"),
                driver(address),
                host.number(address.directory() + "/numa_node"),
                interfaces(address),
                rdmaDevices,
                sriov,
                parameter(address, ENABLE_IWARP, unreadable),
                parameter(address, ENABLE_ROCE, unreadable),
                unreadable));
    }

    /** Reads a devlink parameter. A driver that does not answer must not hide the rest of the node. */
    private Optional<Boolean> parameter(PciAddress address, String name, List<String> unreadable) {
        try {
            return host.parameter(DevlinkParameter.ofPciFunction(address.value(), name));
        } catch (HostException e) {
            unreadable.add(e.getMessage());
            return Optional.empty();
        }
    }

    private Optional<SrIov> sriov(PciAddress address, List<RdmaDevice> all) {
        int total = host.number(address.directory() + "/sriov_totalvfs").orElse(0);
        if (total == 0) {
            return Optional.empty();
        }
        List<VirtualFunction> functions = new ArrayList<>();
        for (String link : host.list(address.directory())) {
            if (link.startsWith(VIRTUAL_FUNCTION)) {
                OptionalInt index = Host.natural(link.substring(VIRTUAL_FUNCTION.length()));
                Optional<PciAddress> target = PciAddress.at(host, address.directory() + "/" + link);
                if (index.isPresent() && target.isPresent()) {
                    functions.add(virtualFunction(index.getAsInt(), target.get(), all));
                }
            }
        }
        functions.sort(Comparator.comparingInt(VirtualFunction::index));
        int number = host.number(address.directory() + "/sriov_numvfs").orElse(functions.size());
        return Optional.of(new SrIov(total, number, functions));
    }

    private VirtualFunction virtualFunction(int index, PciAddress address, List<RdmaDevice> all) {
        return new VirtualFunction(
                index, address, id(address, "device"), driver(address), interfaces(address), of(address, all));
    }

    private List<NetworkInterface> interfaces(PciAddress address) {
        return host.list(address.directory() + "/net").stream()
                .map(this::networkInterface)
                .toList();
    }

    /** Returns an interface of the node, whatever its function is. */
    public NetworkInterface networkInterface(String name) {
        return networkInterface("class/net/" + name, name);
    }

    private NetworkInterface networkInterface(String directory, String name) {
        return new NetworkInterface(
                name,
                linkState(host.read(directory + "/operstate").orElse("")),
                host.number(directory + "/mtu"),
                host.number(directory + "/speed"));
    }

    /** Translates an operational state (RFC 2863, attribute operstate). */
    private static LinkState linkState(String operstate) {
        return switch (operstate) {
            case "up" -> LinkState.UP;
            case "notpresent", "down", "lowerlayerdown", "testing", "dormant" -> LinkState.DOWN;
            default -> LinkState.UNKNOWN;
        };
    }

    private static List<RdmaDevice> of(PciAddress function, List<RdmaDevice> all) {
        return all.stream()
                .filter(device -> device.function().equals(Optional.of(function)))
                .toList();
    }

    private Optional<String> driver(PciAddress address) {
        return host.resolve(address.directory() + "/driver").map(NicDiscovery::lastName);
    }

    /** Returns four hexadecimal digits without 0x. */
    private String id(PciAddress address, String attribute) {
        return host.read(address.directory() + "/" + attribute).orElse("").replaceFirst("^0x", "");
    }

    static String lastName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
