// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Capture;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.SiwGuest;
import io.sidewarp.e2e.support.Verdict;
import io.sidewarp.e2e.wire.Ulpdu;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the perftest of Linux soft-iWARP against {@code sidewarp perftest}, with either of them as client. */
@ExtendWith(Logs.class)
class SiwPerftestIT {

    private static final int ITERATIONS = 100;

    /** A process that uses siw cannot create many more queue pairs. */
    private static final int SEVERAL = 16;

    /** Takes three FPDUs on Ethernet. */
    private static final int SIZE = 4096;

    private static SiwGuest guest;
    private static SidecarProcess sidecar;

    @BeforeAll
    static void start() {
        guest = SiwGuest.get();
        sidecar = SidecarProcess.with("siw-perftest").allowCrcOff().start();
    }

    @AfterAll
    static void stop() {
        if (sidecar != null) {
            sidecar.close();
        }
    }

    /**
     * Runs a test of siw's perftest against a server of Sidewarp. The server of write_lat sends first, but must not
     * send before the client's first FPDU (RFC 5044 section 7.1.2). Therefore write_lat needs the peer-to-peer model,
     * in which the client sends an FPDU at once.
     */
    @ParameterizedTest(name = "{0}, MPA revision {1}, CRC {2}, peer-to-peer {3}")
    @CsvSource({
        "write_bw, 1, true, false",
        "write_bw, 1, false, false",
        "write_bw, 2, true, false",
        "write_bw, 2, false, true",
        "read_bw, 1, true, false",
        "read_bw, 1, false, false",
        "read_bw, 2, true, false",
        "read_bw, 2, false, true",
        "send_bw, 1, true, false",
        "send_bw, 1, false, false",
        "send_bw, 2, true, false",
        "send_bw, 2, false, true",
        "write_lat, 2, true, true",
        "write_lat, 2, false, true"
    })
    void aPerftestOfSiwIsServed(String test, int revision, boolean crc, boolean peerToPeer) {
        guest.configure(revision, crc, peerToPeer);
        serve(test, 1, crc);
    }

    @Test
    void aPerftestOfSiwIsServedOnSeveralConnections() {
        guest.configure(2, true, false);
        serve("write_bw", SEVERAL, true);
    }

    @ParameterizedTest(name = "{0}, CRC {1}")
    @CsvSource({
        "write_bw, true",
        "write_bw, false",
        "read_bw, true",
        "read_bw, false",
        "send_bw, true",
        "send_bw, false",
        "write_lat, true",
        "write_lat, false"
    })
    void siwServesPerftest(String test, boolean crc) {
        guest.configure(2, crc, false);
        beServed(test, 1, crc);
    }

    /**
     * Excludes write_bw, whose server closes its connections when the client is done, even if data is still in flight.
     */
    @ParameterizedTest
    @ValueSource(strings = {"read_bw", "send_bw"})
    void siwServesPerftestOnSeveralConnections(String test) {
        guest.configure(2, true, false);
        beServed(test, SEVERAL, true);
    }

    private void serve(String test, int connections, boolean crc) {
        String name = "siw-serve-" + test + "-" + System.nanoTime();
        try (OwnedProcess server = cli(test, connections, crc, "--listen", Link.LOOPBACK + ":0", "--once")) {
            String listening = server.awaitLine(line -> line.startsWith("listening on "));
            int port = Integer.parseInt(listening.substring(listening.lastIndexOf(':') + 1));
            try (Capture capture = Capture.start(name, port)) {
                SiwGuest.Result client = guest.run(perftest(test, connections) + " -p " + port + " " + SiwGuest.HOST);
                assertMeasured(client, test, connections);
                assertThat(server.awaitExit()).as(server.text()).isZero();
                assertThat(server.text()).contains(test + ", " + connections * ITERATIONS + " messages");
                assertSound(capture, test, connections, crc);
            }
        }
    }

    private void beServed(String test, int connections, boolean crc) {
        String name = "siw-be-served-" + test + "-" + System.nanoTime();
        try (Capture capture = Capture.start(name, guest.perftestPort())) {
            CompletableFuture<SiwGuest.Result> server = guest.start(perftest(test, connections));
            guest.awaitListening(SiwGuest.PERFTEST_PORT);
            try (OwnedProcess client = cli(test, connections, crc, Link.LOOPBACK + ":" + guest.perftestPort())) {
                assertThat(client.awaitExit()).as(client.text()).isZero();
                assertThat(client.text()).contains(test, " " + connections * ITERATIONS + " ");
            }
            assertMeasured(Patience.get(server), test, connections);
            assertSound(capture, test, connections, crc);
        }
    }

    /** Readers have 16 reads under way, as many as the sidecar serves by default. */
    private static String perftest(String test, int connections) {
        return "ib_" + test + " -R -F -s " + size(test) + " -n " + ITERATIONS
                + (test.startsWith("read") ? " -o 16" : "")
                + (connections > 1 ? " -q " + connections : "");
    }

    private static OwnedProcess cli(String test, int connections, boolean crc, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "perftest",
                test,
                "--size",
                Integer.toString(size(test)),
                "--iterations",
                Integer.toString(ITERATIONS),
                "--connections",
                Integer.toString(connections),
                "--depth",
                "16"));
        arguments.addAll(List.of(more));
        if (!crc) {
            arguments.add("--no-crc");
        }
        return CliProcess.start(sidecar, arguments.toArray(String[]::new));
    }

    private static int size(String test) {
        return test.endsWith("_lat") ? 64 : SIZE;
    }

    /** The line with the figures, which perftest prints when it is done. */
    private static void assertMeasured(SiwGuest.Result result, String test, int connections) {
        assertThat(result.orThrow().text())
                .containsPattern("(?m)^ " + size(test) + " +" + connections * ITERATIONS + " ");
    }

    /** Checks the recorded connections. The two sides of perftest talk through one additional connection. */
    private static void assertSound(Capture capture, String test, int connections, boolean crc) {
        Verdict verdict = Verdict.of(capture, connections + 1, crc);
        long messages = (long) connections * ITERATIONS;
        if (test.startsWith("write")) {
            assertThat(verdict.messages(Ulpdu.WRITE)).isEqualTo(test.endsWith("_lat") ? 2 * messages : messages);
        } else if (test.startsWith("read")) {
            assertThat(verdict.messages(Ulpdu.READ_RESPONSE)).isEqualTo(messages);
        } else {
            assertThat(verdict.messages(Ulpdu.SEND)).isGreaterThanOrEqualTo(messages);
        }
    }
}
