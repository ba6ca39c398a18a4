// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static io.sidewarp.e2e.support.VerbsLibrary.finish;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.network.OneNamespace;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import io.sidewarp.e2e.support.VerbsLibrary;
import io.sidewarp.e2e.support.VerbsSidecars;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs programs that nobody here wrote over the verbs library, between two packaged sidecars. The programs are those of
 * Debian, unchanged.
 */
@ExtendWith(Logs.class)
class VerbsProgramsIT {

    /** Debian's, whatever is on the PATH: it has the modules of Debian's packages. */
    private static final String PYTHON = "/usr/bin/python3";

    private static final int CONNECTIONS = 100;

    private static VerbsSidecars sidecars;
    private static SidecarProcess left;
    private static SidecarProcess right;
    private static int lastPort = 20_000;

    @BeforeAll
    static void start() {
        sidecars = VerbsSidecars.start();
        left = sidecars.left();
        right = sidecars.right();
    }

    @AfterAll
    static void stop() {
        // The sidecars are missing where a tool is.
        if (sidecars != null) {
            sidecars.close();
        }
    }

    @AfterEach
    void nothingIsLeft() {
        sidecars.endPrograms();
    }

    @Test
    void rpingValidatesData() {
        int port = nextPort();
        OwnedProcess server = listen(port, "rping", "-s", "-V", "-C", "1000", "-S", "1000");
        OwnedProcess client = start(
                right,
                "rping",
                "-c",
                "-v",
                "-V",
                "-C",
                "1000",
                "-S",
                "1000",
                "-a",
                OneNamespace.ADDRESS,
                "-p",
                text(port));
        assertThat(finish(client).lines().filter(line -> line.contains("rdma-ping-")))
                .hasSize(1000);
        assertThat(finish(server)).doesNotContain("error", "mismatch");
    }

    @Test
    void persistentServerTakesManyClients() {
        int port = nextPort();
        try (OwnedProcess server = listen(port, "rping", "-s", "-P")) {
            for (int i = 0; i < 3; i++) {
                assertThat(finish(start(
                                        right,
                                        "rping",
                                        "-c",
                                        "-v",
                                        "-C",
                                        "10",
                                        "-a",
                                        OneNamespace.ADDRESS,
                                        "-p",
                                        text(port)))
                                .lines()
                                .filter(line -> line.contains("rdma-ping-")))
                        .hasSize(10);
            }
            server.interrupt();
            server.awaitExit();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, CONNECTIONS})
    void ucmatoseSendsBothWays(int connections) {
        int port = nextPort();
        OwnedProcess server = listen(port, "ucmatose", "-c", text(connections), "-C", "10", "-S", "1000");
        OwnedProcess client = start(
                right,
                "ucmatose",
                "-s",
                OneNamespace.ADDRESS,
                "-c",
                text(connections),
                "-C",
                "10",
                "-S",
                "1000",
                "-p",
                text(port));
        assertThat(finish(client)).contains("data transfers complete", "return status 0");
        assertThat(finish(server)).contains("data transfers complete", "return status 0");
    }

    @Test
    void rdmaClientTalksToRdmaServer() {
        int port = nextPort();
        OwnedProcess server = listen(port, "rdma_server");
        OwnedProcess client = start(right, "rdma_client", "-s", OneNamespace.ADDRESS, "-p", text(port));
        assertThat(finish(client)).contains("rdma_client: end 0");
        assertThat(finish(server)).contains("rdma_server: end 0");
    }

    @ParameterizedTest
    @CsvSource({
        "ib_write_bw, 65536, 4",
        "ib_read_bw, 65536, 4",
        "ib_send_bw, 65536, 4",
        "ib_atomic_bw, 8, 4",
        "ib_write_lat, 8, 1",
        "ib_read_lat, 8, 1",
        "ib_send_lat, 8, 1",
        "ib_atomic_lat, 8, 1"
    })
    void perftestMeasures(String test, int size, int queuePairs) {
        Tools.need(test, "perftest");
        int port = nextPort();
        List<String> command = new ArrayList<>(List.of(test, "-R", "-F", "-n", "1000", "-p", text(port)));
        if (!test.contains("atomic")) {
            command.addAll(List.of("-s", text(size)));
        }
        if (queuePairs > 1) {
            command.addAll(List.of("-q", text(queuePairs)));
        }
        OwnedProcess server = start(left, command.toArray(String[]::new));
        sidecars.awaitListening(port, server);
        command.add(OneNamespace.ADDRESS);
        String said = finish(start(right, command.toArray(String[]::new)));
        assertThat(said).containsPattern("(?m)^ " + size + " +" + queuePairs * 1000 + " ");
        finish(server);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void perftestUsesSharedReceiveQueues(boolean events) {
        Tools.need("ib_send_bw", "perftest");
        int port = nextPort();
        // With several queue pairs, perftest's credits can stop it for ever (docs/verbs-applications.md).
        List<String> command = new ArrayList<>(List.of("ib_send_bw", "-R", "-F", "-n", "1000", "--use-srq"));
        if (events) {
            command.add("-e");
        }
        command.addAll(List.of("-p", text(port)));
        OwnedProcess server = start(left, command.toArray(String[]::new));
        sidecars.awaitListening(port, server);
        command.add(OneNamespace.ADDRESS);
        assertThat(finish(start(right, command.toArray(String[]::new)))).containsPattern("(?m)^ 65536 +1000 ");
        finish(server);
    }

    @Test
    void perftestUsesMemoryOfTheVolume() throws IOException {
        Tools.need("ib_write_bw", "perftest");
        int port = nextPort();
        List<OwnedProcess> sides = new ArrayList<>();
        for (SidecarProcess side : List.of(left, right)) {
            Path file = side.volume().resolve("memory");
            Files.write(file, new byte[4 << 20]);
            List<String> command = new ArrayList<>(
                    List.of("ib_write_bw", "-R", "-F", "-n", "1000", "--mmap", file.toString(), "-p", text(port)));
            if (side == right) {
                command.add(OneNamespace.ADDRESS);
            }
            sides.add(start(side, command.toArray(String[]::new)));
            if (side == left) {
                sidecars.awaitListening(port, sides.getFirst());
            }
        }
        assertThat(finish(sides.getLast())).containsPattern("(?m)^ 65536 +1000 ");
        finish(sides.getFirst());
        for (SidecarProcess side : List.of(left, right)) {
            Files.delete(side.volume().resolve("memory"));
        }
    }

    @Test
    void qperfMeasures() {
        Tools.need("qperf", "qperf");
        int port = nextPort();
        try (OwnedProcess server = start(left, "qperf", "-lp", text(port))) {
            sidecars.awaitListening(port, server);
            assertThat(finish(start(
                            right,
                            "qperf",
                            OneNamespace.ADDRESS,
                            "-lp",
                            text(port),
                            "-cm1",
                            "-t",
                            "1",
                            "rc_bw",
                            "rc_lat",
                            "rc_rdma_write_bw",
                            "rc_rdma_read_bw")))
                    .contains("rc_bw:", "rc_lat:", "rc_rdma_write_bw:", "rc_rdma_read_bw:")
                    .doesNotContain("failed", "error");
        }
    }

    /** In fio, the receiver has rw=read and listens, and the sender has rw=write, whichever operation moves the data. */
    @ParameterizedTest
    @ValueSource(strings = {"write", "read"})
    void fioMovesFiles(String verb) throws IOException {
        Tools.need("fio", "fio");
        int port = nextPort();
        Path directory = Directories.temporary("fio-" + verb);
        Path receiver = directory.resolve("receiver.fio");
        Files.writeString(receiver, """
                [global]
                ioengine=rdma
                port=%d
                bs=64k
                size=64m
                [receiver]
                rw=read
                iodepth=16
                """.formatted(port));
        Path sender = directory.resolve("sender.fio");
        Files.writeString(sender, """
                [global]
                ioengine=rdma
                hostname=%s
                port=%d
                verb=%s
                bs=64k
                size=64m
                [sender]
                rw=write
                iodepth=8
                """.formatted(OneNamespace.ADDRESS, port, verb));
        OwnedProcess server = start(left, "fio", receiver.toString());
        sidecars.awaitListening(port, server);
        assertThat(finish(start(right, "fio", sender.toString()))).contains("err= 0", "io=64.0MiB");
        assertThat(finish(server)).contains("err= 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"verbs", "verbs;ofi_rxm"})
    void libfabricPingPongs(String provider) {
        Tools.need("fi_pingpong", "libfabric-bin");
        String[] command = {
            "fi_pingpong", "-p", provider, "-e", provider.contains("rxm") ? "rdm" : "msg", "-c", "-I", "100"
        };
        int port = nextPort();
        OwnedProcess server = start(left, append(command, "-B", text(port)));
        sidecars.awaitListening(port, server);
        assertThat(finish(start(right, append(command, "-P", text(port), OneNamespace.ADDRESS))))
                .containsPattern("(?m)^1m? .*")
                .contains("64k");
        finish(server);
    }

    @Test
    void openMpiReduces() {
        Tools.need("mpirun", "openmpi-bin");
        Tools.needFile("/usr/lib/python3/dist-packages/mpi4py", "python3-mpi4py");
        String program = """
                from mpi4py import MPI
                import numpy
                world = MPI.COMM_WORLD
                for length in (1, 1000, 1000000):
                    total = numpy.empty(length)
                    world.Allreduce(numpy.full(length, world.rank + 1.0), total)
                    assert (total == 10).all()
                peer = world.rank ^ 1
                for i in range(100):
                    data = world.sendrecv((world.rank, i), dest=peer, source=peer)
                    assert data == (peer, i)
                # One write, so that lines of several ranks do not mix.
                import os
                os.write(1, f"rank {world.rank} of {world.size} done\\n".encode())
                """;
        List<String> command = new ArrayList<>(List.of(
                "mpirun",
                "--allow-run-as-root",
                "--oversubscribe",
                "--mca",
                "pml",
                "cm",
                "--mca",
                "mtl",
                "ofi",
                "--mca",
                "mtl_ofi_provider_include",
                "verbs;ofi_rxm"));
        for (SidecarProcess side : List.of(left, right)) {
            if (side == right) {
                command.add(":");
            }
            command.addAll(List.of("-n", "2", "env"));
            command.addAll(VerbsLibrary.environment(side));
            command.addAll(List.of(PYTHON, "-c", program));
        }
        List<String> whole = new ArrayList<>(sidecars.prefix());
        whole.addAll(command);
        OwnedProcess run = OwnedProcess.start("mpirun", whole);
        assertThat(finish(run)).contains("rank 0 of 4 done", "rank 3 of 4 done");
    }

    @Test
    void rstreamVerifiesData() {
        Tools.need("rstream", "rdmacm-utils");
        int port = nextPort();
        OwnedProcess server = listen(port, "rstream", "-T", "b", "-T", "v", "-C", "100", "-S", "65536");
        assertThat(finish(start(
                        right,
                        "rstream",
                        "-s",
                        OneNamespace.ADDRESS,
                        "-T",
                        "b",
                        "-T",
                        "v",
                        "-C",
                        "100",
                        "-S",
                        "65536",
                        "-p",
                        text(port))))
                .contains("64k");
        finish(server);
    }

    @Test
    void rcopyCopiesFile() throws IOException {
        Tools.need("rcopy", "rdmacm-utils");
        Path directory = Directories.temporary("rcopy");
        byte[] content = new byte[5_000_000];
        new Random(1).nextBytes(content);
        Files.write(directory.resolve("source"), content);
        int port = nextPort();
        try (OwnedProcess server = start(left, "rcopy", "-p", text(port))) {
            sidecars.awaitListening(port, server);
            finish(start(
                    right,
                    "rcopy",
                    directory.resolve("source").toString(),
                    OneNamespace.ADDRESS + ":" + directory.resolve("copy"),
                    "-p",
                    text(port)));
            assertThat(directory.resolve("copy")).hasBinaryContent(content);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rping -c -C 1 -p PORT -a | RDMA_CM_EVENT_REJECTED, error -111
            ib_write_bw -R -p PORT   | Unexpected CM event bl blka 8
            """)
    void absentServerIsReportedAsDocumented(String command, String report) {
        Tools.need("ib_write_bw", "perftest");
        String[] words = command.replace("PORT", text(nextPort())).split(" ");
        OwnedProcess client = start(right, append(words, OneNamespace.ADDRESS));
        assertThat(client.awaitExit()).isNotZero();
        assertThat(client.text()).contains(report);
        assertThat(Programs.root().resolve("docs/troubleshooting.md"))
                .content()
                .containsPattern(Pattern.quote(report) + ".* \\| No server listens");
    }

    @Test
    void killedClientEndsServer() {
        int port = nextPort();
        OwnedProcess server = listen(port, "rping", "-s");
        OwnedProcess client =
                start(right, "rping", "-c", "-v", "-C", "100000000", "-a", OneNamespace.ADDRESS, "-p", text(port));
        client.awaitLine(line -> line.contains("rdma-ping-"));
        client.kill();
        client.awaitExit();
        server.awaitExit();
    }

    @Test
    void killedServerEndsClient() {
        int port = nextPort();
        OwnedProcess server = listen(port, "rping", "-s");
        OwnedProcess client =
                start(right, "rping", "-c", "-v", "-C", "100000000", "-a", OneNamespace.ADDRESS, "-p", text(port));
        client.awaitLine(line -> line.contains("rdma-ping-"));
        server.kill();
        server.awaitExit();
        client.awaitExit();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void killedSidecarEndsItsProgramAndThePeers(boolean sidecarOfTheClient) {
        int port = nextPort();
        try (SidecarProcess mortal = sidecars.another("mortal")) {
            OwnedProcess server = listen(sidecarOfTheClient ? left : mortal, port, "rping", "-s");
            OwnedProcess client = start(
                    sidecarOfTheClient ? mortal : right,
                    "rping",
                    "-c",
                    "-v",
                    "-C",
                    "100000000",
                    "-a",
                    OneNamespace.ADDRESS,
                    "-p",
                    text(port));
            client.awaitLine(line -> line.contains("rdma-ping-"));
            mortal.process().kill();
            client.awaitExit();
            server.awaitExit();
        }
    }

    /** Starts a program of the left side with {@code -p PORT}, and waits until it listens. */
    private static OwnedProcess listen(int port, String... command) {
        return listen(left, port, command);
    }

    private static OwnedProcess listen(SidecarProcess side, int port, String... command) {
        OwnedProcess server = start(side, append(command, "-p", text(port)));
        sidecars.awaitListening(port, server);
        return server;
    }

    private static OwnedProcess start(SidecarProcess side, String... command) {
        return sidecars.program(side, List.of(), command);
    }

    private static int nextPort() {
        return ++lastPort;
    }

    private static String text(int number) {
        return Integer.toString(number);
    }

    private static String[] append(String[] command, String... more) {
        String[] whole = Arrays.copyOf(command, command.length + more.length);
        System.arraycopy(more, 0, whole, command.length, more.length);
        return whole;
    }
}
