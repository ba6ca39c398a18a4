// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static io.sidewarp.e2e.support.VerbsLibrary.finish;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.network.OneNamespace;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import io.sidewarp.e2e.support.VerbsSidecars;
import java.util.List;
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
