// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/**
 * A virtual machine with Linux soft-iWARP (siw), rping, perftest and the kernel's SCTP. The scripts in e2e-tests/siw
 * make and run it. One virtual machine serves all tests and ends with them.
 */
public final class SiwGuest {

    /** The loopback interface of this machine, seen from the guest. */
    public static final String HOST = "10.0.2.2";

    /** The first of the ports at which rpings listen. */
    public static final int RPING_PORT = 7174;

    /** Ports for rpings, one after the other. */
    public static final int RPING_PORTS = 5;

    /** Port on which perftest listens. */
    public static final int PERFTEST_PORT = 18515;

    /** The UDP port in which the kernel's SCTP is encapsulated (RFC 6951). */
    public static final int SCTP_UDP_PORT = 9899;

    /** Exit status of the scripts when this machine lacks what they need. */
    private static final int UNAVAILABLE_STATUS = 69;

    private static final int COMMAND_PORT = 9;

    /** Packages are downloaded and a kernel module is compiled. */
    private static final Duration BUILD_LIMIT = Duration.ofMinutes(15);

    private static final String STATUS = "exit status ";

    /** Options of the script that runs a guest, and the guest that was made with them, or why there is none. */
    private static final Map<List<String>, SiwGuest> SHARED = new HashMap<>();

    private static final Map<List<String>, String> UNAVAILABLE = new HashMap<>();

    private final int commands;
    private final int[] rping;
    private final int perftest;
    private final int sctp;

    private SiwGuest(int commands, int[] rping, int perftest, int sctp) {
        this.commands = commands;
        this.rping = rping;
        this.perftest = perftest;
        this.sctp = sctp;
    }

    /** The guest; the test ends as skipped where there can be none. */
    public static SiwGuest get() {
        return get(List.of());
    }

    /** A guest of its own kind, with a NIC that can have virtual functions; the test ends as skipped where there is none. */
    public static SiwGuest withSriov() {
        return get(List.of("--sriov"));
    }

    private static synchronized SiwGuest get(List<String> options) {
        if (!UNAVAILABLE.containsKey(options) && !SHARED.containsKey(options)) {
            start(options);
        }
        if (UNAVAILABLE.containsKey(options)) {
            abort("no siw guest: " + UNAVAILABLE.get(options));
        }
        return SHARED.get(options);
    }

    private static void start(List<String> options) {
        Path scripts = Programs.root().resolve("e2e-tests/siw");
        try (OwnedProcess build =
                OwnedProcess.start("siw-build", List.of(scripts.resolve("build").toString()))) {
            int status = build.awaitExit(BUILD_LIMIT);
            if (status == UNAVAILABLE_STATUS) {
                UNAVAILABLE.put(options, build.output().getLast());
                return;
            }
            assertThat(status).as(build.text()).isZero();
        }
        int[] rping = IntStream.range(0, RPING_PORTS).map(i -> Ports.free()).toArray();
        SiwGuest guest = new SiwGuest(Ports.free(), rping, Ports.free(), Ports.freeUdp());
        List<String> command = new ArrayList<>(List.of(scripts.resolve("run").toString()));
        command.addAll(options);
        command.addAll(List.of(
                guest.commands + ":" + COMMAND_PORT,
                guest.perftest + ":" + PERFTEST_PORT,
                "udp:" + guest.sctp + ":" + SCTP_UDP_PORT));
        for (int i = 0; i < RPING_PORTS; i++) {
            command.add(rping[i] + ":" + (RPING_PORT + i));
        }
        OwnedProcess machine = OwnedProcess.start("siw-guest", command);
        Patience.await("the siw guest is ready, or cannot be")
                .atMost(Patience.LONG_LIMIT)
                .until(() -> !machine.isAlive() || machine.text().contains("siw guest is ready"));
        if (!machine.isAlive() && machine.awaitExit(Patience.LIMIT) == UNAVAILABLE_STATUS) {
            UNAVAILABLE.put(options, machine.output().getLast());
            return;
        }
        assertThat(machine.text()).contains("siw guest is ready");
        SHARED.put(options, guest);
    }

    /** The port of this machine's loopback interface that leads to one of the guest's ports for rpings. */
    public int rpingPort(int index) {
        return rping[index];
    }

    /** The port that leads to the guest's perftest. */
    public int perftestPort() {
        return perftest;
    }

    /** The UDP port that leads to the guest's SCTP. */
    public int sctpUdpPort() {
        return sctp;
    }

    /** Sets the parameters with which siw sets up connections from now on. */
    public void configure(int revision, boolean crc, boolean peerToPeer) {
        run("cd /sys/module/siw/parameters; echo " + revision + " >mpa_version; echo " + (crc ? 1 : 0)
                        + " >mpa_crc_required; echo " + (peerToPeer ? 1 : 0) + " >peer_to_peer")
                .orThrow();
    }

    /** Exit status and output of commands in the guest, standard output and standard error together. */
    public record Result(int status, String text) {

        public Result orThrow() {
            assertThat(status).as(text).isZero();
            return this;
        }
    }

    /** Runs shell commands in the guest. */
    public Result run(String script) {
        return run(script, Patience.LIMIT);
    }

    /** Runs shell commands in the guest, which ends them after a time. */
    public Result run(String script, Duration limit) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), commands)) {
            String limited = "script=$(cat <<'END-OF-SCRIPT'\n" + script + "\nEND-OF-SCRIPT\n)\n"
                    + "timeout " + limit.toSeconds() + " sh -c \"$script\" </dev/null 2>&1\n"
                    + "echo \"" + STATUS + "$?\"\nexit\n";
            OutputStream out = socket.getOutputStream();
            out.write(limited.getBytes(StandardCharsets.UTF_8));
            out.flush();
            String text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = text.lastIndexOf(STATUS);
            assertThat(status).as("the guest answers: " + text).isNotNegative();
            return new Result(
                    Integer.parseInt(text.substring(status + STATUS.length()).strip()), text.substring(0, status));
        } catch (IOException e) {
            throw new UncheckedIOException("the guest does not answer", e);
        }
    }

    /** Copies what is in a directory, and what its links lead to, into one of the guest. */
    public void copy(Path from, String to) {
        List<String> pack = List.of("tar", "-C", from.toString(), "-chf", "-", ".");
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout((int) Patience.LIMIT.toMillis());
            CompletableFuture<Result> unpacked = start("mkdir -p " + to + " && socat -u TCP:" + HOST + ":"
                    + server.getLocalPort() + " - | tar -x -C " + to);
            try (Socket socket = server.accept();
                    OutputStream out = socket.getOutputStream()) {
                Process packing = new ProcessBuilder(pack)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
                packing.getInputStream().transferTo(out);
                assertThat(packing.waitFor()).as("tar").isZero();
            }
            Patience.get(unpacked, Patience.LONG_LIMIT).orThrow();
        } catch (IOException e) {
            throw new UncheckedIOException("the guest takes no files", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Runs shell commands meanwhile. */
    public CompletableFuture<Result> start(String script) {
        CompletableFuture<Result> result = new CompletableFuture<>();
        Thread.ofVirtual().name("siw guest").start(() -> {
            try {
                result.complete(run(script));
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /** Waits until something in the guest listens for RDMA connections at a port. */
    public void awaitListening(int port) {
        Patience.await("the guest listens at " + port)
                .until(() -> run("rdma resource show cm_id").text().contains(":" + port + " "));
    }
}
