// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.network;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.sidewarp.e2e.support.Tools;
import io.sidewarp.operator.testing.TestResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/**
 * Two network namespaces and the wire between them, which is in this process. Each packet passes through a {@link
 * Carrier} that may lose, delay, repeat, reorder or change the packet. Needs root. No packet leaves the two namespaces.
 */
public final class TestNetwork implements AutoCloseable {

    private static final int MAX_PACKET = 65_536;
    private static final int IDLE_MILLIS = 20;

    /** Decides about each packet: delivers, delays, changes or drops it. Called on one thread. */
    @FunctionalInterface
    public interface Carrier {

        /** Every packet arrives, in order and at once. */
        Carrier FAITHFUL = (packet, fromLeft, out) -> out.deliver(packet, 0);

        void carry(IpPacket packet, boolean fromLeft, Output out);
    }

    /** Destination of packets behind a carrier. */
    @FunctionalInterface
    public interface Output {

        /** @param delayMicros time that the packet takes */
        void deliver(IpPacket packet, long delayMicros);
    }

    private record Due(long nanos, long number, IpPacket packet, int file) {}

    private final String name = "sw" + ProcessHandle.current().pid();
    private final End left = new End(name + "l", "192.0.2.1");
    private final End right = new End(name + "r", "192.0.2.2");
    private final TestResource remains = TestResource.of(this::closeEnds);
    private final Carrier carrier;
    private final PriorityQueue<Due> due =
            new PriorityQueue<>(Comparator.comparingLong(Due::nanos).thenComparingLong(Due::number));
    private final Thread pump = new Thread(this::run, "test-network");
    private volatile boolean closing;
    private volatile Throwable failure;
    private long delivered;

    /** One of the two namespaces. It has one interface with the same name and one address. */
    public static final class End {

        private final String namespace;
        private final String address;
        private int file = -1;

        private End(String namespace, String address) {
            this.namespace = namespace;
            this.address = address;
        }

        public String address() {
            return address;
        }

        public String namespace() {
            return namespace;
        }

        /** Returns the prefix of commands that must run in this namespace. */
        public List<String> prefix() {
            return List.of("ip", "netns", "exec", namespace);
        }

        private void open(End peer, int mtu) {
            // Removes the namespace of a killed JVM that had the same process ID.
            removeNamespace();
            ip("netns", "add", namespace);
            file = Tun.open(namespace);
            ip("link", "set", namespace, "netns", namespace);
            ip("-n", namespace, "link", "set", "lo", "up");
            ip("-n", namespace, "link", "set", namespace, "mtu", Integer.toString(mtu), "up");
            ip("-n", namespace, "addr", "add", address, "peer", peer.address, "dev", namespace);
        }

        private void close() {
            if (file >= 0) {
                Tun.close(file);
                file = -1;
            }
            removeNamespace();
        }

        private void removeNamespace() {
            if (Files.exists(Path.of("/var/run/netns", namespace))) {
                ip("netns", "del", namespace);
            }
        }
    }

    private TestNetwork(Carrier carrier) {
        this.carrier = carrier;
    }

    /** Returns whether this user can make a network. */
    public static boolean isPermitted() {
        return Files.isWritable(Path.of("/dev/net/tun"))
                && Path.of("/var/run").toFile().canWrite();
    }

    /** Makes the namespaces; skips the test where that is not permitted. */
    public static TestNetwork open(int mtu, Carrier carrier) {
        Tools.need("ip", "iproute2");
        assumeThat(isPermitted())
                .as("network namespaces and TUN devices take root")
                .isTrue();
        TestNetwork network = new TestNetwork(carrier);
        try {
            network.left.open(network.right, mtu);
            network.right.open(network.left, mtu);
        } catch (RuntimeException | Error e) {
            network.remains.close();
            throw e;
        }
        network.pump.start();
        return network;
    }

    public End left() {
        return left;
    }

    public End right() {
        return right;
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(MAX_PACKET);
            MemorySegment scratch = arena.allocate(16, 8);
            while (!closing) {
                Tun.await(left.file, right.file, millisToNext(), scratch);
                drain(left, right, buffer);
                drain(right, left, buffer);
                deliverDue();
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        }
    }

    private int millisToNext() {
        Due next = due.peek();
        if (next == null) {
            return IDLE_MILLIS;
        }
        long left = TimeUnit.NANOSECONDS.toMillis(next.nanos() - System.nanoTime() + 999_999);
        return Math.clamp(left, 0, IDLE_MILLIS);
    }

    private void drain(End from, End to, MemorySegment buffer) {
        int length = Tun.read(from.file, buffer);
        while (length > 0) {
            IpPacket packet = new IpPacket(buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
            long now = System.nanoTime();
            carrier.carry(
                    packet,
                    from == left,
                    (carried, delayMicros) -> due.add(
                            new Due(now + TimeUnit.MICROSECONDS.toNanos(delayMicros), delivered++, carried, to.file)));
            length = Tun.read(from.file, buffer);
        }
    }

    private void deliverDue() {
        while (!due.isEmpty() && due.peek().nanos() - System.nanoTime() <= 0) {
            Due next = due.poll();
            try (Arena arena = Arena.ofConfined()) {
                Tun.write(
                        next.file(),
                        arena.allocateFrom(ValueLayout.JAVA_BYTE, next.packet().octets()));
            }
        }
    }

    static void ip(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "ip";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(String.join(" ", command) + ": " + output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private void closeEnds() {
        left.close();
        right.close();
    }

    /** Removes the namespaces; what ran in them has to have ended. */
    @Override
    public void close() {
        closing = true;
        try {
            pump.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        remains.close();
        if (failure != null) {
            throw new IllegalStateException("the wire failed", failure);
        }
    }
}
