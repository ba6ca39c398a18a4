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
 * Two hosts and an Ethernet between them, like two pods of a node: two network namespaces and a veth pair. No packet
 * leaves this network.
 */
public final class Network implements AutoCloseable {

    /** Maximum bytes of an IP packet. */
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
     * @param namespace name of its network namespace
     * @param address IPv4 address
     */
    public record Host(String namespace, String address) {

        /** Returns the prefix of a command that runs on this host, in the same process. */
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
            ChildProcess.run(
                    "namespaces can have what net.ipv4.tcp_allowed_congestion_control of the machine names", command);
        }

        /** Removes the namespace. The end of this process does so too, when {@link Children} start nothing any more. */
        private void remove() throws IOException {
            if (Files.exists(NAMESPACES.resolve(namespace))) {
                try {
                    int exitCode = new ProcessBuilder("ip", "netns", "delete", namespace)
                            .inheritIO()
                            .start()
                            .waitFor();
                    if (exitCode != 0) {
                        throw new IOException("ip netns delete failed with exit code " + exitCode);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException("interrupted", e);
                }
            }
        }
    }

    private Network(Host active, Host passive) {
        this.active = active;
        this.passive = passive;
    }

    /** Returns the reason why this machine or user cannot make a network; empty if a network can be made. */
    public static Optional<String> obstacle() {
        try (Network ignored = create("probe")) {
            return Optional.empty();
        } catch (Failure e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Makes a network, with the machine's congestion control of TCP.
     *
     * @param name name that distinguishes the network from others of this process
     * @throws Failure if the network cannot be made
     */
    public static Network create(String name) {
        // Uses addresses for documentation (RFC 5737), which no other host has.
        String prefix = "sidewarp-" + ProcessHandle.current().pid() + "-" + name;
        Network network = new Network(new Host(prefix + "-a", "192.0.2.1"), new Host(prefix + "-b", "192.0.2.2"));
        try {
            network.active.create();
            network.passive.create();
            ip(("-n " + network.active.namespace() + " link add " + INTERFACE + " mtu " + MTU + " type veth peer name "
                            + INTERFACE + " mtu " + MTU + " netns " + network.passive.namespace())
                    .split(" ", -1));
            network.active.setUp();
            network.passive.setUp();
            return network;
        } catch (RuntimeException e) {
            network.close();
            throw e;
        }
    }

    /** Returns the host of the end that keeps the time. */
    public Host active() {
        return active;
    }

    /** Returns the host of the other end. */
    public Host passive() {
        return passive;
    }

    /**
     * Sets the congestion control of later connections and listeners.
     *
     * @return false if namespaces cannot use it, since the machine does not allow it to all users
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

    /** Returns the default congestion control of TCP connections on this machine. */
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
        ChildProcess.run(HINT, command);
    }

    /** Removes the network. All processes on its hosts must have ended. */
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
