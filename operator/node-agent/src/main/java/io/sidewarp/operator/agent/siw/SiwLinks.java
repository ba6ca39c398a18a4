// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.siw;

import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.RdmaLink;
import java.util.Optional;

/**
 * Makes and removes siw devices. The agent's devices have a prefix in their names; no others are removed. Not
 * thread-safe.
 *
 * <p>The agent loads no modules. When it requests a device of type siw, the kernel loads the modules itself, with the
 * node's modprobe. These are ib_core (net-pf-16-proto-20), siw (rdma-link-siw), ib_uverbs and rdma_ucm
 * (rdma-client-uverbs, rdma-client-rdma_cm).
 */
public final class SiwLinks {

    public static final String DEFAULT_PREFIX = "sidewarp-";

    private static final String TYPE = "siw";

    /** Attribute node_desc of siw devices. */
    private static final String DESCRIPTION = "Software iWARP stack";

    /**
     * Maximum length of a device name. The kubelet limits the device id siw/NAME-SHARE to 63 characters, and the share
     * has up to 4 digits. The kernel allows names of 63 characters.
     */
    private static final int MAXIMUM_NAME_LENGTH = 54;

    /** Maximum length of a prefix: that of a name, less the 15 characters of an interface name. */
    private static final int MAXIMUM_PREFIX_LENGTH = MAXIMUM_NAME_LENGTH - 15;

    private final Host host;
    private final String prefix;

    /**
     * A siw device that is ready for use.
     *
     * @param name name of the RDMA device
     * @param networkInterface interface of the device
     * @param uverbs name of its device node below /dev/infiniband
     */
    public record SiwLink(String name, String networkInterface, String uverbs) {}

    /**
     * No siw device is available. The message says why, and what to do. The agent offers the software engine instead.
     */
    public static final class SiwUnavailableException extends Exception {

        private static final long serialVersionUID = 1L;

        SiwUnavailableException(String message) {
            super(message);
        }

        SiwUnavailableException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * Makes an object for the siw devices of a host.
     *
     * @param host kernel of the node
     * @param prefix prefix of the names of the agent's own devices: 1 to 39 letters, digits, dots, underscores and
     *     dashes
     */
    public SiwLinks(Host host, String prefix) {
        if (!prefix.matches("[A-Za-z0-9_.-]{1," + MAXIMUM_PREFIX_LENGTH + "}")) {
            throw new IllegalArgumentException("the prefix of siw devices has to have 1 to " + MAXIMUM_PREFIX_LENGTH
                    + " letters, digits, dots, underscores and dashes, and is \"" + prefix + "\"");
        }
        this.host = host;
        this.prefix = prefix;
    }

    /**
     * Returns the siw device on an interface, accessible from user space. Creates the device if there is none. The
     * kernel allows at most one siw device on each interface, so a device of another owner is used unchanged. Removes
     * the agent's own devices on other interfaces, including those of an earlier run.
     *
     * @param networkInterface name of the interface; empty for the interface of the default route
     * @throws SiwUnavailableException if no suitable device exists or can be made
     */
    public SiwLink ensure(Optional<String> networkInterface) throws SiwUnavailableException {
        String target = networkInterface
                .or(() -> host.defaultRouteInterfaces().stream().findFirst())
                .orElseThrow(() -> new SiwUnavailableException(
                        "the node has no default route: name the interface for siw in the policy (siw.interfaceName)"));
        try {
            removeOwn(target);
            Optional<RdmaLink> present = find(target);
            if (present.isEmpty()) {
                create(target);
                present = find(target);
            }
            RdmaLink link =
                    present.orElseThrow(() -> new SiwUnavailableException("the siw device on " + target + " vanished"));
            if (link.name().length() > MAXIMUM_NAME_LENGTH) {
                throw new SiwUnavailableException("the siw device " + link.name() + " on " + target
                        + " is somebody else's, and a name of more than " + MAXIMUM_NAME_LENGTH
                        + " characters is too long for the kubelet. Rename it.");
            }
            return new SiwLink(link.name(), target, host.openToUserSpace(link));
        } catch (HostException e) {
            throw new SiwUnavailableException(e.getMessage(), e);
        }
    }

    /** Returns the interface of the agent's own device; empty if there is no such device. */
    public Optional<String> ownInterface() throws HostException {
        return host.rdmaLinks().stream()
                .filter(link -> isOwn(link) && isSiw(link))
                .flatMap(link -> link.interfaces().values().stream())
                .findFirst();
    }

    /** Removes all devices that the agent has made, now or in an earlier run. */
    public void removeAll() throws HostException {
        removeOwn("");
    }

    private void removeOwn(String except) throws HostException {
        for (RdmaLink link : host.rdmaLinks()) {
            if (isOwn(link) && isSiw(link) && !link.interfaces().containsValue(except)) {
                try {
                    host.deleteRdmaLink(link);
                } catch (HostException e) {
                    // The device was removed together with its interface meanwhile (EINVAL: no such device).
                    if (host.rdmaLinks().contains(link)) {
                        throw e;
                    }
                }
            }
        }
    }

    private Optional<RdmaLink> find(String networkInterface) throws HostException {
        return host.rdmaLinks().stream()
                .filter(link -> isSiw(link) && link.interfaces().containsValue(networkInterface))
                .findFirst();
    }

    private boolean isOwn(RdmaLink link) {
        return link.name().startsWith(prefix);
    }

    private boolean isSiw(RdmaLink link) {
        return host.read("class/infiniband/" + link.name() + "/node_desc").equals(Optional.of(DESCRIPTION));
    }

    private void create(String networkInterface) throws SiwUnavailableException {
        if (!host.exists("class/net/" + networkInterface)) {
            throw new SiwUnavailableException("the node has no interface " + networkInterface
                    + ". Name another in the policy; the agent has to run in the node's network namespace.");
        }
        try {
            host.createRdmaLink(TYPE, prefix + networkInterface, networkInterface);
        } catch (HostException e) {
            throw unavailable(networkInterface, e);
        }
    }

    private SiwUnavailableException unavailable(String networkInterface, HostException e) {
        String message = switch (e.errno().orElse(Errno.EIO)) {
            case EPROTONOSUPPORT ->
                "the node's kernel has no RDMA subsystem (module ib_core). Install a kernel that has it.";
            case EPERM, EACCES ->
                "the agent may not make RDMA devices: it needs CAP_NET_ADMIN in the node's namespaces.";
            case EINVAL, EOPNOTSUPP, ENODEV ->
                host.exists("module/" + TYPE)
                        ? "siw does not take the interface " + networkInterface
                                + ": it has to be an Ethernet one. Name another in the policy."
                        : "the node's kernel has no siw (module siw, CONFIG_RDMA_SIW). Install it on the node.";
            default -> e.getMessage();
        };
        return new SiwUnavailableException(message, e);
    }
}
