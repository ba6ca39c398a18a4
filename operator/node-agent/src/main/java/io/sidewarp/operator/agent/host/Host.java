// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.util.List;
import java.util.Optional;

/**
 * All that the agent reads from, and changes in, the node's kernel. Paths are relative to the root of sysfs, such as
 * {@code class/net/eth0/mtu}.
 */
public interface Host {

    /**
     * The value of an attribute without the newline at its end. Empty when there is no such attribute, and when it has no
     * value now, as the speed of an interface whose link is down.
     */
    Optional<String> read(String attribute);

    /** The names in a directory, sorted; none when there is no such directory. */
    List<String> list(String directory);

    boolean exists(String path);

    /** Where a path leads when all symbolic links in it are followed, relative to the root of sysfs. */
    Optional<String> resolve(String path);

    /**
     * Writes an attribute in one system call.
     *
     * @throws HostException with what the driver returned, or ENOENT when there is no such attribute
     */
    void write(String attribute, String value) throws HostException;

    /**
     * The value of a Boolean devlink parameter. Empty when the device has none of that name in that mode, or no devlink.
     */
    Optional<Boolean> parameter(DevlinkParameter parameter) throws HostException;

    /** Sets a Boolean devlink parameter; returns when the driver has done what follows from it. */
    void setParameter(DevlinkParameter parameter, boolean value) throws HostException;

    /** All RDMA devices of the kernel; none where its RDMA subsystem is not loaded. */
    List<RdmaLink> rdmaLinks() throws HostException;

    /**
     * Makes a software RDMA device on a network interface. The kernel loads the module that makes such devices if it has
     * one.
     *
     * @param type the driver, such as {@code siw}
     * @param name of the RDMA device, at most 63 octets
     */
    void createRdmaLink(String type, String name, String networkInterface) throws HostException;

    /** Removes a software RDMA device. */
    void deleteRdmaLink(RdmaLink link) throws HostException;

    /**
     * Makes the kernel load what gives user space access to an RDMA device (ib_uverbs) and to connection management
     * (rdma_ucm), so that their device nodes are there.
     *
     * @return the name of the device's node below {@code /dev/infiniband}, such as uverbs0
     */
    String openToUserSpace(RdmaLink link) throws HostException;

    /** Interfaces with a default route, of IPv4 before those of IPv6 only, the preferred one first. */
    List<String> defaultRouteInterfaces();

    /** Differs after each boot of the node. */
    String bootId();
}
