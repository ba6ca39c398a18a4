// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Access to everything that the agent reads or changes in the node's kernel. Paths are relative to the root of sysfs,
 * such as {@code class/net/eth0/mtu}.
 */
public interface Host {

    /**
     * Returns the value of an attribute without the newline at its end. Empty if the attribute does not exist or has no
     * value now, such as the speed of an interface whose link is down.
     */
    Optional<String> read(String attribute);

    /** Returns the number in an attribute; empty if there is none, or a negative one, which means unknown. */
    default OptionalInt number(String attribute) {
        return read(attribute).map(Host::natural).orElseGet(OptionalInt::empty);
    }

    /** Parses a decimal number. Empty for text that is no number, and for a negative number. */
    static OptionalInt natural(String text) {
        try {
            int number = Integer.parseInt(text);
            return number < 0 ? OptionalInt.empty() : OptionalInt.of(number);
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /** Returns the names in a directory, sorted. Returns none if there is no such directory. */
    List<String> list(String directory);

    boolean exists(String path);

    /** Returns the target of a path after all symbolic links are followed, relative to the root of sysfs. */
    Optional<String> resolve(String path);

    /**
     * Writes an attribute in one system call.
     *
     * @throws HostException with the driver's error number, or ENOENT if the attribute does not exist
     */
    void write(String attribute, String value) throws HostException;

    /**
     * Returns the value of a Boolean devlink parameter. Empty if the device has no such parameter in that mode, or no
     * devlink.
     */
    Optional<Boolean> parameter(DevlinkParameter parameter) throws HostException;

    /** Sets a Boolean devlink parameter. Returns after the driver has applied the value. */
    void setParameter(DevlinkParameter parameter, boolean value) throws HostException;

    /** Returns all RDMA devices of the kernel. Returns none if its RDMA subsystem is not loaded. */
    List<RdmaLink> rdmaLinks() throws HostException;

    /**
     * Creates a software RDMA device on a network interface. The kernel loads the driver's module if it has one.
     *
     * @param type driver, such as {@code siw}
     * @param name name of the RDMA device, at most 63 bytes
     */
    void createRdmaLink(String type, String name, String networkInterface) throws HostException;

    /** Removes a software RDMA device. */
    void deleteRdmaLink(RdmaLink link) throws HostException;

    /**
     * Lets the kernel load the modules for user-space access, so that their device nodes exist. The modules are
     * ib_uverbs for the RDMA device and rdma_ucm for connection management.
     *
     * @return name of the device's node below {@code /dev/infiniband}, such as uverbs0
     */
    String openToUserSpace(RdmaLink link) throws HostException;

    /**
     * Returns the interfaces with a default route. Those with an IPv4 route precede those with IPv6 only; within each
     * group the preferred interface is first.
     */
    List<String> defaultRouteInterfaces();

    /** Returns the boot id, which differs after each boot of the node. */
    String bootId();
}
