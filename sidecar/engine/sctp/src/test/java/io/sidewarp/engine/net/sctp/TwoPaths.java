// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Two network namespaces with two links between them. Creating them requires root and the {@code ip} program. */
final class TwoPaths implements AutoCloseable {

    static final String LEFT = "sidewarp-left";
    static final String RIGHT = "sidewarp-right";

    private static final int CLONE_NEWNET = 0x4000_0000;

    TwoPaths() throws Exception {
        close();
        ip("netns", "add", LEFT);
        ip("netns", "add", RIGHT);
        for (int path = 1; path <= 2; path++) {
            ip(
                    "link",
                    "add",
                    device(path),
                    "netns",
                    LEFT,
                    "type",
                    "veth",
                    "peer",
                    "name",
                    device(path),
                    "netns",
                    RIGHT);
            ip("-n", LEFT, "address", "add", left(path).getHostAddress() + "/24", "dev", device(path));
            ip("-n", RIGHT, "address", "add", right(path).getHostAddress() + "/24", "dev", device(path));
            ip("-n", LEFT, "link", "set", device(path), "up");
            ip("-n", RIGHT, "link", "set", device(path), "up");
        }
    }

    private static String device(int path) {
        return "path" + path;
    }

    /** Returns the address of the left end of path 1 or path 2. */
    static InetAddress left(int path) {
        return address(path, 1);
    }

    static InetAddress right(int path) {
        return address(path, 2);
    }

    private static InetAddress address(int path, int end) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 81, (byte) path, (byte) end});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /** Sets the right end of a path up or down. */
    void set(int path, boolean up) throws Exception {
        ip("-n", RIGHT, "link", "set", device(path), up ? "up" : "down");
    }

    /** Returns the bytes that the left end has sent on a path. */
    long sent(int path) throws Exception {
        return Long.parseLong(
                run("ip", "netns", "exec", LEFT, "cat", "/sys/class/net/" + device(path) + "/statistics/tx_bytes")
                        .strip());
    }

    /** Moves the thread of an event loop into a namespace. Sockets that the loop opens afterwards belong there. */
    static void enter(EventLoop loop, String namespace) throws Exception {
        CompletableFuture.runAsync(() -> enter("/run/netns/" + namespace), loop).get(10, TimeUnit.SECONDS);
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
                throw new IllegalStateException("cannot enter network namespace " + path);
            }
        } catch (Throwable e) {
            throw new IllegalStateException("cannot enter network namespace " + path + "; run as root", e);
        }
    }

    private static void ip(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = "ip";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        run(command);
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(20, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + " failed, or took more than 20 s: " + output);
        }
        return output;
    }

    @Override
    public void close() throws Exception {
        String known = run("ip", "netns", "list");
        for (String namespace : List.of(LEFT, RIGHT)) {
            if (known.contains(namespace)) {
                ip("netns", "delete", namespace);
            }
        }
    }
}
