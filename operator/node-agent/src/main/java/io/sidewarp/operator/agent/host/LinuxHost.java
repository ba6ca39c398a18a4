// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Accesses the kernel of this node through sysfs and raw netlink sockets. Starts no other program. */
public final class LinuxHost extends SysfsHost {

    private final Path proc;
    private final RdmaNetlink rdma;
    private final DevlinkNetlink devlink;

    /**
     * Makes the host of this machine.
     *
     * @param sysfs mount point of sysfs
     * @param proc mount point of procfs
     * @param netlinkTimeout maximum time to wait for one answer of the kernel
     */
    public LinuxHost(Path sysfs, Path proc, Duration netlinkTimeout) {
        super(sysfs);
        if (netlinkTimeout.toMillis() < 1) {
            throw new IllegalArgumentException("the netlink timeout has to be at least 1 ms, not " + netlinkTimeout);
        }
        this.proc = proc;
        rdma = new RdmaNetlink(netlinkTimeout);
        devlink = new DevlinkNetlink(netlinkTimeout);
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
        return exists("class/infiniband") ? rdma.links() : List.of();
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
        return DefaultRoutes.interfaces(lines(proc.resolve("net/route")), lines(proc.resolve("net/ipv6_route")));
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
            return Files.readString(proc.resolve("sys/kernel/random/boot_id")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("the kernel's boot id cannot be read", e);
        }
    }
}
