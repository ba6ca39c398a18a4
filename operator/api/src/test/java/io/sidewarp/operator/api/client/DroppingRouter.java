// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.client;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.sidewarp.operator.testing.TestResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * A network namespace between a client and a server on the loopback interface. It can drop all packets to the present
 * connections of the client, as a router does that has forgotten them: no end hears of it. New connections work.
 */
final class DroppingRouter implements AutoCloseable {
    private static final String NAMESPACE = "sidewarp-router";
    private static final String OUTSIDE = "swrouter0";
    private static final String INSIDE = "swrouter1";
    private static final String CLIENT = "10.83.0.1";
    private static final String ADDRESS = "10.83.0.2";
    private static final int CLONE_NEWNET = 0x4000_0000;
    private static final long LIMIT_SECONDS = 20;

    private final int server;
    private final List<SocketChannel> open = new CopyOnWriteArrayList<>();
    private final List<Integer> clientPorts = new CopyOnWriteArrayList<>();
    private final TestResource remains = TestResource.of(this::end);
    private ServerSocketChannel listener;

    private DroppingRouter(int server) {
        this.server = server;
    }

    /** Makes a router to a port of the loopback interface. Skips the test where that is not permitted. */
    static DroppingRouter to(int server) throws Exception {
        assumeThat(Files.isWritable(Path.of("/var/run")) && isRoot())
                .as("network namespaces take root")
                .isTrue();
        assumeThat(Files.isExecutable(Path.of("/sbin/ip")) || Files.isExecutable(Path.of("/bin/ip")))
                .as("the program ip of iproute2 makes network namespaces")
                .isTrue();
        DroppingRouter router = new DroppingRouter(server);
        try {
            router.start();
            return router;
        } catch (Exception | Error e) {
            router.close();
            throw e;
        }
    }

    private static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }

    private void start() throws Exception {
        end();
        ip("netns", "add", NAMESPACE);
        ip("link", "add", OUTSIDE, "type", "veth", "peer", "name", INSIDE, "netns", NAMESPACE);
        ip("address", "add", CLIENT + "/30", "dev", OUTSIDE);
        ip("link", "set", OUTSIDE, "up");
        ip("-n", NAMESPACE, "address", "add", ADDRESS + "/30", "dev", INSIDE);
        ip("-n", NAMESPACE, "link", "set", INSIDE, "up");
        CompletableFuture<ServerSocketChannel> bound = new CompletableFuture<>();
        // A socket belongs to the namespace of the thread that makes it.
        Thread.ofPlatform().daemon().name("router").start(() -> {
            try {
                enter("/run/netns/" + NAMESPACE);
                bound.complete(ServerSocketChannel.open().bind(new InetSocketAddress(ADDRESS, 0)));
            } catch (IOException | RuntimeException e) {
                bound.completeExceptionally(e);
            }
        });
        listener = bound.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        Thread.ofVirtual().start(this::accept);
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel client = listener.accept();
                SocketChannel upstream =
                        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), server));
                open.add(client);
                open.add(upstream);
                clientPorts.add(((InetSocketAddress) client.getRemoteAddress()).getPort());
                Thread.ofVirtual().start(() -> pump(client, upstream));
                Thread.ofVirtual().start(() -> pump(upstream, client));
            }
        } catch (IOException e) {
            // The test has ended.
            return;
        }
    }

    private static void pump(SocketChannel from, SocketChannel to) {
        try (from;
                to) {
            Channels.newInputStream(from).transferTo(Channels.newOutputStream(to));
        } catch (IOException e) {
            // One end is closed; the other one follows.
            return;
        }
    }

    /** Returns the base URL of the server behind the router. */
    String url() throws IOException {
        return "https://" + ADDRESS + ":" + ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    /** Drops all packets to the client that belong to a present connection, from now on. */
    void forgetConnections() throws IOException, InterruptedException {
        for (int port : clientPorts) {
            ip("-n", NAMESPACE, "rule", "add", "ipproto", "tcp", "dport", Integer.toString(port), "blackhole");
        }
        clientPorts.clear();
    }

    private static void enter(String namespace) {
        Linker linker = Linker.nativeLinker();
        try (Arena arena = Arena.ofConfined()) {
            FunctionDescriptor numbers =
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
            FunctionDescriptor name =
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
            MemorySegment open = linker.defaultLookup().find("open").orElseThrow();
            MemorySegment setns = linker.defaultLookup().find("setns").orElseThrow();
            int descriptor = (int) linker.downcallHandle(open, name, Linker.Option.firstVariadicArg(2))
                    .invokeExact(arena.allocateFrom(namespace), 0);
            if ((int) linker.downcallHandle(setns, numbers).invokeExact(descriptor, CLONE_NEWNET) != 0) {
                throw new IllegalStateException("setns fails");
            }
        } catch (Throwable e) {
            throw new IllegalStateException("cannot enter network namespace " + namespace + "; run as root", e);
        }
    }

    private static void ip(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + " failed, or took too long: " + output);
        }
    }

    private void end() {
        try {
            if (listener != null) {
                listener.close();
            }
            for (SocketChannel each : open) {
                each.close();
            }
            if (Files.exists(Path.of("/sys/class/net", OUTSIDE))) {
                // The end of the namespace would remove the pair of interfaces later.
                ip("link", "delete", OUTSIDE);
            }
            if (Files.exists(Path.of("/run/netns", NAMESPACE))) {
                ip("netns", "delete", NAMESPACE);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        remains.close();
    }
}
