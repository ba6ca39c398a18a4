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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the rping of Linux soft-iWARP against {@code sidewarp ping --rping}, with either of them as client. Data goes
 * to the server by RDMA Read and back by RDMA Write, and the client compares it. tshark checks the packets on the wire.
 */
@ExtendWith(Logs.class)
class SiwPingIT {

    private static final int CONNECTIONS = 100;
    private static final int SERVERS = 4;

    /** A client that has not ended by then does not end. */
    private static final Duration HANGING = Duration.ofMinutes(2);

    /** Says of each rping that still runs where it waits, and which connections there are. */
    private static final String DESCRIBE_AND_END_RPINGS = "for pid in $(pidof rping); do"
            + " echo \"rping $pid hangs in $(cat /proc/$pid/task/*/wchan | tr '\\0' ' ')\"; tail -n 3 /proc/$pid/fd/1 | cut -c 1-100;"
            + " done; netstat -tn; killall -KILL rping";

    private static final String PING_DATA = "server ping data: ";

    private static SiwGuest guest;
    private static SidecarProcess sidecar;

    @BeforeAll
    static void start() {
        guest = SiwGuest.get();
        sidecar = SidecarProcess.with("siw-ping").allowCrcOff().start();
    }

    @AfterAll
    static void stop() {
        if (sidecar != null) {
            sidecar.close();
        }
    }

    @ParameterizedTest(name = "MPA revision {0}, CRC {1}, peer-to-peer {2}")
    @CsvSource({
        "1, false, false",
        "1, true, false",
        "2, false, false",
        "2, true, false",
        "2, false, true",
        "2, true, true"
    })
    void anRpingOfSiwGetsItsDataBack(int revision, boolean crc, boolean peerToPeer) {
        guest.configure(revision, crc, peerToPeer);
        try (Answering answering = new Answering("siw-rping-" + revision + "-" + crc + "-" + peerToPeer, crc)) {
            guest.run("i=0; " + answering.rping(10)).orThrow();
            assertThat(answering.server.awaitLine(line -> line.contains("rounds")))
                    .contains("10 rounds of 4 KiB");
            assertThat(Verdict.of(answering.capture, 1, crc).messages(Ulpdu.READ_REQUEST))
                    .isEqualTo(10);
        }
    }

    /** siw goes by the Reply when it needs CRCs. */
    @ParameterizedTest(name = "MPA revision {0}")
    @ValueSource(ints = {1, 2})
    void anRpingOfSiwThatNeedsCrcsGetsThemOfAServerThatDoesNotAskForThem(int revision) {
        guest.configure(revision, true, false);
        try (Answering answering = new Answering("siw-rping-needs-crc-" + revision, false)) {
            guest.run("i=0; " + answering.rping(10)).orThrow();
            assertThat(answering.server.awaitLine(line -> line.contains("rounds")))
                    .contains("10 rounds of 4 KiB");
            assertThat(Verdict.of(answering.capture, 1, true).messages(Ulpdu.READ_REQUEST))
                    .isEqualTo(10);
        }
    }

    @Test
    void aHundredRpingsOfSiwAtATimeGetTheirData() {
        guest.configure(2, true, false);
        try (Answering answering = new Answering("siw-rping-" + CONNECTIONS, true)) {
            String all = "for i in $(seq " + CONNECTIONS + "); do " + answering.rping(5)
                    + " & pids=\"$pids $!\"; done; { sleep " + HANGING.toSeconds() + " >/dev/null 2>&1; "
                    + DESCRIBE_AND_END_RPINGS
                    + "; } & for pid in $pids; do wait $pid || failed=1; done; kill $!; [ -z \"$failed\" ]";
            guest.run(all, Patience.LONG_LIMIT).orThrow();
            Patience.await("all clients were served").until(() -> answering.served() == CONNECTIONS);
            assertThat(Verdict.of(answering.capture, CONNECTIONS, true).messages(Ulpdu.READ_REQUEST))
                    .isEqualTo(5 * CONNECTIONS);
        }
    }

    @ParameterizedTest(name = "CRC {0}, peer-to-peer {1}")
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void anRpingOfSiwServesOurPings(boolean crc, boolean peerToPeer) {
        guest.configure(2, crc, peerToPeer);
        try (Capture capture = Capture.start("siw-serves-" + crc + "-" + peerToPeer, guest.rpingPort(0))) {
            CompletableFuture<SiwGuest.Result> server =
                    guest.start("rping -s -a 0.0.0.0 -p " + SiwGuest.RPING_PORT + " -C 10 -S 4096 -v 2>/dev/null");
            guest.awaitListening(SiwGuest.RPING_PORT);
            List<String> more = new ArrayList<>();
            if (!crc) {
                more.add("--no-crc");
            }
            if (peerToPeer) {
                more.add("--peer-to-peer");
            }
            try (OwnedProcess ping = ping(0, 10, more)) {
                assertThat(ping.awaitExit()).as(ping.text()).isZero();
                assertThat(ping.text()).contains("10 of 10 rounds good", "CRC " + (crc ? "on" : "off"));
            }
            assertThat(pingData(Patience.get(server))).isEqualTo(expectedData(10));
            Verdict verdict = Verdict.of(capture, 1, crc);
            assertThat(verdict.messages(Ulpdu.READ_REQUEST)).isEqualTo(10);
            assertThat(verdict.messages(Ulpdu.WRITE)).isEqualTo(10);
        }
    }

    /** Shared by several rpings, as one process that uses siw cannot have so many queue pairs. */
    @Test
    void rpingsOfSiwServeAHundredOfOurConnections() {
        guest.configure(2, true, false);
        int each = CONNECTIONS / SERVERS;
        int[] ports = IntStream.range(0, SERVERS).map(guest::rpingPort).toArray();
        try (Capture capture = Capture.start("siw-serves-" + CONNECTIONS, ports)) {
            List<OwnedProcess> pings = new ArrayList<>();
            try {
                for (int i = 0; i < SERVERS; i++) {
                    // On a terminal rping writes each line at once.
                    guest.run("socat -u EXEC:'rping -s -P -p " + (SiwGuest.RPING_PORT + i)
                                    + " -S 4096 -v',pty,raw,setsid,ctty CREATE:data." + i
                                    + " 2>/dev/null & echo $! >pid." + i)
                            .orThrow();
                    guest.awaitListening(SiwGuest.RPING_PORT + i);
                    pings.add(ping(i, 5, List.of("--connections", Integer.toString(each))));
                }
                for (OwnedProcess ping : pings) {
                    assertThat(ping.awaitExit(Patience.LONG_LIMIT))
                            .as(ping.text())
                            .isZero();
                    assertThat(ping.text()).contains(5 * each + " of " + 5 * each + " rounds good");
                }
                List<String> expected = Collections.nCopies(each, expectedData(5)).stream()
                        .flatMap(List::stream)
                        .toList();
                for (int i = 0; i < SERVERS; i++) {
                    assertThat(pingData(guest.run("cat data." + i))).containsExactlyInAnyOrderElementsOf(expected);
                }
            } finally {
                pings.forEach(OwnedProcess::close);
                guest.run("for i in $(seq 0 " + (SERVERS - 1) + "); do kill $(cat pid.$i); done");
            }
            assertThat(Verdict.of(capture, CONNECTIONS, true).messages(Ulpdu.READ_REQUEST))
                    .isEqualTo(5 * CONNECTIONS);
        }
    }

    private static OwnedProcess ping(int server, int rounds, List<String> more) {
        List<String> arguments = new ArrayList<>(List.of("ping", "--rping", "--mpa-revision", "2", "--size", "4K"));
        arguments.addAll(List.of("--interval", "0s", "--count", Integer.toString(rounds)));
        arguments.addAll(more);
        arguments.add(Link.LOOPBACK + ":" + guest.rpingPort(server));
        return CliProcess.start(sidecar, arguments.toArray(String[]::new));
    }

    /** Returns the data that rping prints as read. */
    private static List<String> pingData(SiwGuest.Result server) {
        return server.text()
                .lines()
                .filter(line -> line.startsWith(PING_DATA))
                .map(line -> line.substring(PING_DATA.length()))
                .toList();
    }

    /**
     * Returns the data that the command offers: letters that continue from round to round, and a zero byte, which rping
     * does not print.
     */
    private static List<String> expectedData(int rounds) {
        String letters = "abcdefghijklmnopqrstuvwxyz".repeat(4096 / 26 + 2);
        return IntStream.rangeClosed(1, rounds)
                .mapToObj(round -> letters.substring(round, round + 4095))
                .toList();
    }

    /** A server of pings for the guest, with a capture of its packets. */
    private static final class Answering implements AutoCloseable {

        final OwnedProcess server;
        private final int port;
        private final Capture capture;

        Answering(String name, boolean crc) {
            List<String> arguments =
                    new ArrayList<>(Arrays.asList("ping", "--rping", "--listen", Link.LOOPBACK + ":0"));
            if (!crc) {
                arguments.add("--no-crc");
            }
            server = CliProcess.start(sidecar, arguments.toArray(String[]::new));
            String listening = server.awaitLine(line -> line.startsWith("listening on "));
            port = Integer.parseInt(listening.substring(listening.lastIndexOf(':') + 1));
            capture = Capture.start(name, port);
        }

        /**
         * The guest's command, which succeeds when all data was right: rping prints what it got after it was validated. Its
         * own status says less, since its event thread may find the channel closed at the end, and ends the process with -1.
         */
        String rping(int rounds) {
            return "{ rping -c -a " + SiwGuest.HOST + " -p " + port + " -C " + rounds
                    + " -S 4096 -V -v >log.$i 2>errors.$i; [ $(grep -c '^ping data' log.$i) = " + rounds
                    + " ] || { echo \"rping $i:\"; tail -n 5 log.$i | cut -c 1-100; cat errors.$i; false; }; }";
        }

        long served() {
            return server.output().stream()
                    .filter(line -> line.contains("5 rounds of 4 KiB"))
                    .count();
        }

        @Override
        public void close() {
            capture.close();
            server.close();
        }
    }
}
