// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Accesses the kernel of this node through sysfs and raw netlink sockets. Starts no other program. */
public final class LinuxHost implements Host {

    private final HostSettings settings;
    private final SysfsTree sysfs;
    private final RdmaNetlink rdma;
    private final DevlinkNetlink devlink;

    public LinuxHost(HostSettings settings) {
        this.settings = settings;
        sysfs = new SysfsTree(settings.sysfsRoot());
        rdma = new RdmaNetlink(settings.netlinkTimeout());
        devlink = new DevlinkNetlink(settings.netlinkTimeout());
    }

    @Override
    public Optional<String> read(String attribute) {
        return sysfs.read(attribute);
    }

    @Override
    public List<String> list(String directory) {
        return sysfs.list(directory);
    }

    @Override
    public boolean exists(String path) {
        return sysfs.exists(path);
    }

    @Override
    public Optional<String> resolve(String path) {
        return sysfs.resolve(path);
    }

    @Override
    public void write(String attribute, String value) throws HostException {
        sysfs.write(attribute, value);
    }

    @Override
    public Optional<Boolean> parameter(DevlinkParameter parameter) throws HostException {
        return devlink.get(parameter);
    }

    @Override
    public void setParameter(DevlinkParameter parameter, boolean value) throws HostException {
        devlink.set(parameter, value);
    }

    @Override
    public List<RdmaLink> rdmaLinks() throws HostException {
        // Opening the socket would load the RDMA subsystem, and reading alone must not do that.
        return sysfs.exists("class/infiniband") ? rdma.links() : List.of();
    }

    @Override
    public void createRdmaLink(String type, String name, String networkInterface) throws HostException {
        rdma.create(type, name, networkInterface);
    }

    @Override
    public void deleteRdmaLink(RdmaLink link) throws HostException {
        rdma.delete(link);
    }

    @Override
    public String openToUserSpace(RdmaLink link) throws HostException {
        return rdma.openToUserSpace(link);
    }

    @Override
    public List<String> defaultRouteInterfaces() {
        return DefaultRoutes.interfaces(
                lines(settings.procRoot().resolve("net/route")),
                lines(settings.procRoot().resolve("net/ipv6_route")));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            // A kernel without IPv6 has no such table.
            return List.of();
        }
    }

    @Override
    public String bootId() {
        try {
            return Files.readString(settings.procRoot().resolve("sys/kernel/random/boot_id"))
                    .strip();
        } catch (IOException e) {
            throw new UncheckedIOException("the kernel's boot id cannot be read", e);
        }
    }
}
