// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A recorded machine whose kernel answers writes as Linux does. Virtual functions appear and disappear with their
 * number, which must be 0 in between. A function of ice has either iWARP or RoCE. The kernel makes one siw device for
 * each interface. A test can make single changes fail, or have no effect.
 */
public final class RecordedHost extends SysfsHost {

    /** Effect of a change that a test has selected. */
    private enum Fault {
        REFUSED,
        IGNORED
    }

    private static final int MINIMUM_MTU = 68;
    private static final int MAXIMUM_MTU = 9702;

    private final Path root;
    private final HostTree tree;
    private final VirtualFunctions virtualFunctions;
    private final List<String> changes = new ArrayList<>();
    private final Map<Integer, Fault> faults = new TreeMap<>();
    private final Map<String, Errno> unreadable = new TreeMap<>();
    private volatile Optional<Errno> rdmaFailure = Optional.empty();
    private Errno refusal = Errno.EIO;
    private boolean siwModule = true;
    private boolean rdmaSubsystem = true;
    private boolean userSpaceAccess = true;
    private String bootId = "6d5c7d5f-boot-1";
    private int nextIndex;

    private RecordedHost(Path root, HostTree tree) {
        super(root);
        this.root = root;
        this.tree = tree;
        virtualFunctions = new VirtualFunctions(root, this);
        nextIndex = tree.links.size();
    }

    /** The host of that name in src/test/resources/hosts, below a directory of its own. */
    public static RecordedHost of(String name, Path directory) {
        return new RecordedHost(directory, HostTree.unpack(name, directory));
    }

    /** Lets the change of that number, from 1, be refused. */
    public RecordedHost refuse(int change, Errno errno) {
        faults.put(change, Fault.REFUSED);
        refusal = errno;
        return this;
    }

    /** Lets the change of that number, from 1, have no effect and report none. */
    public RecordedHost ignore(int change) {
        faults.put(change, Fault.IGNORED);
        return this;
    }

    /** Lets the driver of a function not tell devlink parameters, until it is called again without an error. */
    public RecordedHost unreadable(String function, Optional<Errno> error) {
        error.ifPresentOrElse(present -> unreadable.put(function, present), () -> unreadable.remove(function));
        return this;
    }

    /** Lets RDMA netlink not tell RDMA devices, until it is called again without an error. */
    public RecordedHost withoutRdmaNetlink(Optional<Errno> error) {
        rdmaFailure = error;
        return this;
    }

    public RecordedHost withoutSiwModule() {
        siwModule = false;
        return this;
    }

    public RecordedHost withoutRdmaSubsystem() {
        rdmaSubsystem = false;
        return this;
    }

    public RecordedHost withoutUserSpaceAccess() {
        userSpaceAccess = false;
        return this;
    }

    public void reboot() {
        bootId = "6d5c7d5f-boot-2";
    }

    /** All changes that were tried, as {@code path=value}. */
    public List<String> changes() {
        return List.copyOf(changes);
    }

    /**
     * Returns the configuration that the agent changes: MTUs of physical functions, numbers of virtual functions and
     * links to them, and devlink parameters.
     */
    public Map<String, String> configuration() {
        Map<String, String> configuration = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root.resolve("devices"))) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.equals("mtu") && !isOfVirtualFunction(file) || name.equals("sriov_numvfs")) {
                    configuration.put(
                            root.relativize(file).toString(),
                            Files.readString(file).strip());
                } else if (name.startsWith("virtfn")) {
                    configuration.put(
                            root.relativize(file).toString(),
                            Files.readSymbolicLink(file).toString());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        tree.parameters.forEach((parameter, value) -> configuration.put(parameter.toString(), value.toString()));
        return configuration;
    }

    private static boolean isOfVirtualFunction(Path mtu) {
        return Files.exists(mtu.resolveSibling("../../physfn"));
    }

    // Reading.

    @Override
    public Optional<Boolean> parameter(DevlinkParameter parameter) throws HostException {
        Errno error = unreadable.get(parameter.device());
        if (error != null) {
            throw new HostException("reading devlink parameter " + parameter, error);
        }
        return Optional.ofNullable(tree.parameters.get(parameter));
    }

    @Override
    public List<RdmaLink> rdmaLinks() throws HostException {
        if (rdmaFailure.isPresent()) {
            throw new HostException("reading RDMA devices", rdmaFailure.get());
        }
        return List.copyOf(tree.links);
    }

    @Override
    public List<String> defaultRouteInterfaces() {
        return List.copyOf(tree.defaultRoutes);
    }

    @Override
    public String bootId() {
        return bootId;
    }

    /** A driver makes the RDMA device of a function, which may take it some time. */
    public void addRdmaDevice(String function, String name) {
        try {
            Path physical = root.resolve(resolve("bus/pci/devices/" + function).orElseThrow());
            Path device = physical.resolve("infiniband/" + name);
            Files.createDirectories(device.resolve("ports/1"));
            Files.writeString(device.resolve("node_type"), "4: RNIC\n");
            Files.writeString(device.resolve("ports/1/state"), "4: ACTIVE\n");
            HostTree.link(device.resolve("device"), physical);
            HostTree.link(root.resolve("class/infiniband/" + name), device);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        RdmaLink link = new RdmaLink(nextIndex++, name, Map.of());
        tree.links.add(link);
        addVerbs(link);
    }

    /** Moves the RDMA device of a function into a pod's network namespace, as the CNI plugin rdma does. */
    public void moveAway(String function, String name) {
        try {
            Path device = root.resolve(resolve("class/infiniband/" + name).orElseThrow());
            Path verbs = root.resolve("class/infiniband_verbs/uverbs"
                    + tree.links.stream()
                            .filter(link -> link.name().equals(name))
                            .findFirst()
                            .orElseThrow()
                            .index());
            VirtualFunctions.delete(root.resolve("class/infiniband/" + name));
            VirtualFunctions.delete(device);
            tree.links.removeIf(link -> link.name().equals(name));
            HostTree.link(verbs.resolve("device"), root.resolve("bus/pci/devices/" + function));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // Changing.

    /** Counts a change; true when it is to be done. */
    private boolean begin(String change) throws HostException {
        changes.add(change);
        Fault fault = faults.get(changes.size());
        if (fault == Fault.REFUSED) {
            throw new HostException("change " + change, refusal.number(), "as the test wants");
        }
        return fault == null;
    }

    @Override
    public void write(String attribute, String value) throws HostException {
        if (!begin(attribute + "=" + value)) {
            return;
        }
        if (!exists(attribute)) {
            throw new HostException("writing " + attribute, Errno.ENOENT);
        }
        if (attribute.endsWith("/mtu")) {
            int mtu = Integer.parseInt(value);
            if (mtu < MINIMUM_MTU || mtu > MAXIMUM_MTU) {
                throw new HostException("writing " + attribute, Errno.EINVAL);
            }
        } else if (attribute.endsWith("/sriov_numvfs")) {
            virtualFunctions.change(attribute.substring(0, attribute.lastIndexOf('/')), Integer.parseInt(value));
        } else {
            throw new AssertionError("the agent has no business with " + attribute);
        }
        super.write(attribute, value);
    }

    @Override
    public void setParameter(DevlinkParameter parameter, boolean value) throws HostException {
        if (!begin(parameter + "=" + value)) {
            return;
        }
        if (!tree.parameters.containsKey(parameter)) {
            throw new HostException("setting " + parameter, Errno.EINVAL);
        }
        String other = parameter.name().equals("enable_iwarp") ? "enable_roce" : "enable_iwarp";
        boolean otherIsOn = tree.parameters.getOrDefault(
                new DevlinkParameter(parameter.bus(), parameter.device(), other, parameter.mode()), false);
        if (otherIsOn) {
            // ice asks only this, whatever the new value.
            throw new HostException(
                    "setting " + parameter,
                    Errno.EOPNOTSUPP.number(),
                    "This device cannot enable iWARP and RoCEv2 simultaneously");
        }
        tree.parameters.put(parameter, value);
    }

    @Override
    public void createRdmaLink(String type, String name, String networkInterface) throws HostException {
        if (!begin("new " + type + " " + name + " on " + networkInterface)) {
            return;
        }
        String operation = "making RDMA device " + name;
        if (!rdmaSubsystem) {
            throw new HostException(operation, Errno.EPROTONOSUPPORT);
        }
        if (!exists("class/net/" + networkInterface)) {
            throw new HostException(operation, Errno.ENODEV);
        }
        if (!siwModule) {
            throw new HostException(operation, Errno.EINVAL);
        }
        try {
            Files.createDirectories(root.resolve("module/siw"));
            boolean taken = tree.links.stream()
                    .filter(link -> link.interfaces().containsValue(networkInterface))
                    .anyMatch(link -> exists("devices/virtual/infiniband/" + link.name()));
            if (taken || exists("class/infiniband/" + name)) {
                throw new HostException(operation, Errno.EEXIST);
            }
            Path device = root.resolve("devices/virtual/infiniband/" + name);
            Files.createDirectories(device.resolve("ports/1"));
            Files.writeString(device.resolve("node_type"), "4: RNIC\n");
            Files.writeString(device.resolve("node_desc"), "Software iWARP stack\n");
            Files.writeString(device.resolve("ports/1/state"), "4: ACTIVE\n");
            HostTree.link(root.resolve("class/infiniband/" + name), device);
            tree.links.add(new RdmaLink(nextIndex++, name, Map.of(1, networkInterface)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void deleteRdmaLink(RdmaLink link) throws HostException {
        if (!begin("delete " + link.name())) {
            return;
        }
        if (!tree.links.remove(link)) {
            throw new HostException("removing RDMA device " + link.name(), Errno.EINVAL);
        }
        VirtualFunctions.delete(root.resolve("class/infiniband/" + link.name()));
        VirtualFunctions.delete(root.resolve("devices/virtual/infiniband/" + link.name()));
        VirtualFunctions.delete(root.resolve("class/infiniband_verbs/uverbs" + link.index()));
    }

    @Override
    public String openToUserSpace(RdmaLink link) throws HostException {
        if (!tree.links.contains(link) || !userSpaceAccess) {
            throw new HostException("finding the device node of " + link.name(), Errno.EOPNOTSUPP);
        }
        try {
            Files.createDirectories(root.resolve("class/misc/rdma_cm"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return addVerbs(link);
    }

    private String addVerbs(RdmaLink link) {
        String node = "uverbs" + link.index();
        try {
            Path directory = root.resolve("class/infiniband_verbs/" + node);
            Files.createDirectories(directory);
            Files.writeString(directory.resolve("ibdev"), link.name() + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return node;
    }
}
