// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Two hosts and a router between them: three network namespaces, joined by pairs of Ethernet interfaces with MTU 9000.
 * The router can get a smaller MTU towards the right host, and reports it by ICMP. Needs root and the program ip.
 */
public final class RoutedNetwork implements AutoCloseable {

    /** Octets of an IP packet on each link at first. */
    public static final int JUMBO_MTU = 9000;

    private static final String PREFIX = "swr" + ProcessHandle.current().pid();
    private static final String ROUTER = PREFIX + "m";
    private static final int CLONE_NEWNET = 0x4000_0000;

    /** A host with its address. Its namespace and its interface have the same name. */
    public enum Host {
        LEFT("l", 1),
        RIGHT("r", 2);

        private final String namespace;
        private final int network;

        Host(String suffix, int network) {
            this.namespace = PREFIX + suffix;
            this.network = network;
        }

        public InetAddress address() {
            try {
                return InetAddress.getByAddress(new byte[] {10, 82, (byte) network, 1});
            } catch (UnknownHostException e) {
                throw new AssertionError(e);
            }
        }

        private String router() {
            return "10.82." + network + ".254";
        }

        /** Has the sockets that a thread opens from now on be at this host. */
        public void enter(Executor thread) throws Exception {
            CompletableFuture.runAsync(() -> RoutedNetwork.enter("/run/netns/" + namespace), thread)
                    .get(10, TimeUnit.SECONDS);
        }
    }

    /** Returns whether this user can make a network. */
    public static boolean isPermitted() {
        return Files.isWritable(Path.of("/run")) && Files.isExecutable(Path.of("/sbin/ip"));
    }

    public RoutedNetwork() throws Exception {
        close();
        ip("netns", "add", ROUTER);
        for (Host host : Host.values()) {
            String name = host.namespace;
            String mtu = String.valueOf(JUMBO_MTU);
            String address = host.address().getHostAddress();
            ip("netns", "add", name);
            ip(
                    List.of("link", "add", name, "mtu", mtu, "netns", name),
                    List.of("type", "veth", "peer", "name", name, "mtu", mtu, "netns", ROUTER));
            ip("-n", name, "address", "add", address + "/24", "dev", name);
            ip("-n", ROUTER, "address", "add", host.router() + "/24", "dev", name);
            ip("-n", name, "link", "set", name, "up");
            ip("-n", ROUTER, "link", "set", name, "up");
            ip("-n", name, "route", "add", "default", "via", host.router());
        }
        run(List.of("ip", "netns", "exec", ROUTER, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"));
    }

    /** Gives the router another MTU towards the right host. */
    public void setMtu(int octets) throws Exception {
        ip("-n", ROUTER, "link", "set", Host.RIGHT.namespace, "mtu", String.valueOf(octets));
    }

    private static void enter(String path) {
        Linker linker = Linker.nativeLinker();
        try (Arena arena = Arena.ofConfined()) {
            FunctionDescriptor numbers =
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
            FunctionDescriptor name =
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
            MemorySegment open = linker.defaultLookup().find("open").orElseThrow();
            MemorySegment setns = linker.defaultLookup().find("setns").orElseThrow();
            int descriptor = (int) linker.downcallHandle(open, name, Linker.Option.firstVariadicArg(2))
                    .invokeExact(arena.allocateFrom(path), 0);
            if ((int) linker.downcallHandle(setns, numbers).invokeExact(descriptor, CLONE_NEWNET) != 0) {
                throw new IllegalStateException("cannot enter " + path);
            }
        } catch (Throwable e) {
            throw new IllegalStateException("cannot enter " + path, e);
        }
    }

    private static void ip(String... arguments) throws Exception {
        ip(List.of(arguments), List.of());
    }

    private static void ip(List<String> arguments, List<String> more) throws Exception {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(arguments);
        command.addAll(more);
        run(command);
    }

    private static void run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(20, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output);
        }
    }

    @Override
    public void close() throws Exception {
        for (String namespace : List.of(Host.LEFT.namespace, Host.RIGHT.namespace, ROUTER)) {
            if (Files.exists(Path.of("/run/netns", namespace))) {
                ip("netns", "delete", namespace);
            }
        }
    }
}
