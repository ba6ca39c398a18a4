// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Two hosts and an Ethernet between them, as two pods of a node have: two network namespaces and a veth pair. Nothing
 * leaves it.
 */
public final class Network implements AutoCloseable {

    /** Octets of an IP packet. */
    public static final int MTU = 1500;

    private static final String HINT = "a network takes root and ip, Debian and Ubuntu: apt-get install iproute2";
    private static final Path NAMESPACES = Path.of("/var/run/netns");
    private static final String INTERFACE = "veth0";
    private static final String CONGESTION_CONTROL = "/proc/sys/net/ipv4/tcp_congestion_control";

    private final Host active;
    private final Host passive;

    /**
     * One of the two hosts.
     *
     * @param namespace its name
     * @param address IPv4
     */
    public record Host(String namespace, String address) {

        /** What to put in front of a command that shall run there, in the same process. */
        List<String> prefix() {
            return List.of("nsenter", "--net=" + NAMESPACES.resolve(namespace));
        }

        private void create() {
            Children.adopt(this, this::remove);
            ip("netns", "add", namespace);
        }

        private void setUp() {
            ip("-n", namespace, "address", "add", address + "/24", "dev", INTERFACE);
            ip("-n", namespace, "link", "set", "lo", "up");
            ip("-n", namespace, "link", "set", INTERFACE, "up");
        }

        private void setCongestionControl(String name) {
            List<String> command = new ArrayList<>(prefix());
            command.addAll(List.of("sh", "-c", "echo \"$1\" > \"$0\"", CONGESTION_CONTROL, name));
            Command.run(
                    "namespaces can have what net.ipv4.tcp_allowed_congestion_control of the machine names", command);
        }

        private void remove() throws IOException {
            if (!Files.exists(NAMESPACES.resolve(namespace))) {
                return;
            }
            try {
                ip("netns", "delete", namespace);
            } catch (Failure e) {
                throw new IOException(e.getMessage(), e);
            }
        }
    }

    private Network(Host active, Host passive) {
        this.active = active;
        this.passive = passive;
    }

    /** Why no network can be made on this machine, or by this user; empty if one can. */
    public static Optional<String> obstacle() {
        try (Network ignored = create("probe")) {
            return Optional.empty();
        } catch (Failure e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Makes one, with the machine's congestion control of TCP.
     *
     * @param name tells this one from others of this process
     * @throws Failure when that is not possible
     */
    public static Network create(String name) {
        // Addresses for documentation (RFC 5737), as nobody else has them.
        String prefix = "sidewarp-" + ProcessHandle.current().pid() + "-" + name;
        Network network = new Network(new Host(prefix + "-a", "192.0.2.1"), new Host(prefix + "-b", "192.0.2.2"));
        try {
            network.active.create();
            network.passive.create();
            String mtu = String.valueOf(MTU);
            ip(
                    "-n",
                    network.active.namespace(),
                    "link",
                    "add",
                    INTERFACE,
                    "mtu",
                    mtu,
                    "type",
                    "veth",
                    "peer",
                    "name",
                    INTERFACE,
                    "mtu",
                    mtu,
                    "netns",
                    network.passive.namespace());
            network.active.setUp();
            network.passive.setUp();
            return network;
        } catch (RuntimeException e) {
            network.close();
            throw e;
        }
    }

    /** Where the end runs that keeps the time. */
    public Host active() {
        return active;
    }

    /** Where the other end runs. */
    public Host passive() {
        return passive;
    }

    /**
     * Gives connections and listeners that begin from now on another congestion control.
     *
     * @return false when namespaces cannot have it: it is none that the machine allows everybody
     */
    public boolean useCongestionControl(String name) {
        try {
            active.setCongestionControl(name);
            passive.setCongestionControl(name);
            return true;
        } catch (Failure e) {
            return false;
        }
    }

    /** The name of what TCP connections of this machine have by default. */
    public static String machinesCongestionControl() {
        try {
            return Files.readString(Path.of(CONGESTION_CONTROL)).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    private static void ip(String... arguments) {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        Command.run(HINT, command);
    }

    /** Removes it; what ran on its hosts has to have ended. */
    @Override
    public void close() {
        try {
            Children.remove(active);
            Children.remove(passive);
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot remove a network: " + e.getMessage(), e);
        }
    }
}
