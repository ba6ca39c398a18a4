// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static io.sidewarp.e2e.support.VerbsLibrary.finish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.e2e.network.OneNamespace;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import io.sidewarp.e2e.support.VerbsSidecars;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs programs of Debian that connect their queue pairs without rdma_cm, over the verbs library in the mode
 * {@code by-hand}.
 */
@ExtendWith(Logs.class)
class VerbsByHandIT {

    /** Debian's, whatever is on the PATH: it has the modules of Debian's packages. */
    private static final String PYTHON = "/usr/bin/python3";

    private static final String PYVERBS_TESTS = "/usr/share/doc/rdma-core/tests";

    private static VerbsSidecars sidecars;
    private static SidecarProcess left;
    private static SidecarProcess right;
    private static int lastPort = 21_000;

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
    void deviceHasAddressAsGid() {
        Tools.need("ibv_devinfo", "ibverbs-utils");
        assertThat(finish(start(left, "ibv_devinfo", "-v")))
                .contains("InfiniBand", "Ethernet", "::ffff:" + OneNamespace.ADDRESS);
    }

    /** Without {@code -g}, the program tells a LID. */
    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong -c -g 0", "ibv_rc_pingpong -c", "ibv_rc_pingpong -c -e -g 0"})
    void pingPongValidatesData(String command) {
        Tools.need("ibv_rc_pingpong", "ibverbs-utils");
        assertThat(runBoth(right, command)).contains("1000 iters").doesNotContain("invalid");
    }

    @Test
    void bothEndsShareSidecar() {
        Tools.need("ibv_rc_pingpong", "ibverbs-utils");
        assertThat(runBoth(left, "ibv_rc_pingpong -c -g 0"))
                .contains("1000 iters")
                .doesNotContain("invalid");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_write_bw -x 0 -q 4",
                "ib_read_bw -x 0",
                "ib_send_bw -x 0",
                "ib_send_bw -x 0 -q 4 --use-srq",
                "ib_write_lat -x 0",
                "ib_send_lat"
            })
    void perftestMeasures(String test) {
        Tools.need("ib_write_bw", "perftest");
        assertThat(runBoth(right, test + " -F -n 1000")).containsPattern("(?m)^ \\d+ +[14]000 ");
    }

    @Test
    void qperfMeasures() {
        Tools.need("qperf", "qperf");
        String port = Integer.toString(++lastPort);
        try (OwnedProcess server = start(left, "qperf", "-lp", port)) {
            sidecars.awaitListening(Integer.parseInt(port), server);
            assertThat(finish(start(
                            right,
                            "qperf",
                            OneNamespace.ADDRESS,
                            "-lp",
                            port,
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

    /**
     * The tests of pyverbs that use queries, protection domains, completion queues and RC queue pairs, except one:
     * {@code qp_access_flags} of a queue pair have no effect.
     */
    @Test
    void pyverbsTestsPass() throws IOException {
        assumeTrue(Files.exists(Path.of(PYVERBS_TESTS)), "python3-pyverbs is not installed with its documentation");
        Path directory = Files.createDirectory(Directories.temporary("pyverbs").resolve("tests"));
        try (Stream<Path> files = Files.list(Path.of(PYVERBS_TESTS))) {
            for (Path file : files.toList()) {
                unpack(file, directory);
            }
        }
        assumeTrue(
                !Files.readString(directory.resolve("base.py")).contains("'rdma', 'link'"),
                "the tests of later releases ask the kernel for the device (rdma link)");
        List<String> command = new ArrayList<>(
                List.of(PYTHON, directory.resolve("run_tests.py").toString(), "-v"));
        for (String tests : List.of(
                "DeviceTest.*",
                "PDTest.*",
                "CQAPITest.*",
                "CqEventsTestCase.test_cq_events_rc",
                "QPTest.*rc_qp*",
                "ForkAPITest.*",
                "RoTestCase.test_ro_rc_traffic",
                "AtomicTest.test_atomic_[cfn]*",
                "AtomicTest.test_atomic_invalid_[lmr]*")) {
            command.addAll(List.of("-k", "*." + tests));
        }

        String said = finish(start(left, command.toArray(String[]::new)));
        assertThat(said).containsPattern("Ran (2[5-9]|[3-9]\\d) tests").doesNotContain("can't run traffic");
    }

    /** Debian compresses long files of its documentation. */
    private static void unpack(Path file, Path directory) throws IOException {
        String name = file.getFileName().toString();
        if (!name.endsWith(".gz")) {
            Files.copy(file, directory.resolve(name));
            return;
        }
        try (InputStream content = new GZIPInputStream(Files.newInputStream(file))) {
            Files.copy(content, directory.resolve(name.substring(0, name.length() - ".gz".length())));
        }
    }

    @Test
    void datagramsAreRefused() {
        Tools.need("ibv_ud_pingpong", "ibverbs-utils");
        OwnedProcess program = start(left, "ibv_ud_pingpong", "-g", "0");
        assertThat(program.awaitExit()).isNotZero();
    }

    @Test
    void modeIsNamedWhereItIsMissing() {
        Tools.need("ibv_rc_pingpong", "ibverbs-utils");
        String port = Integer.toString(++lastPort);
        try (OwnedProcess server = start(left, "ibv_rc_pingpong", "-g", "0", "-p", port)) {
            sidecars.awaitListening(Integer.parseInt(port), server);
            OwnedProcess client = startIn(
                    "SIDEWARP_VERBS_MODE=", right, "ibv_rc_pingpong", "-g", "0", "-p", port, OneNamespace.ADDRESS);
            assertThat(client.awaitExit()).isNotZero();
            assertThat(server.awaitExit()).isNotZero();
            assertThat(server.text()).contains("SIDEWARP_VERBS_MODE=by-hand");
        }
    }

    /** Runs the command at the left side, and with the address at the other one. Returns what both print. */
    private static String runBoth(SidecarProcess other, String command) {
        String port = Integer.toString(++lastPort);
        String[] words = (command + " -p " + port).split(" ", -1);
        OwnedProcess server = start(left, words);
        sidecars.awaitListening(Integer.parseInt(port), server);
        String client = finish(start(other, (String.join(" ", words) + " " + OneNamespace.ADDRESS).split(" ", -1)));
        return client + finish(server);
    }

    private static OwnedProcess start(SidecarProcess side, String... command) {
        return startIn("SIDEWARP_VERBS_MODE=by-hand", side, command);
    }

    private static OwnedProcess startIn(String mode, SidecarProcess side, String... command) {
        return sidecars.program(side, List.of(mode), command);
    }
}
