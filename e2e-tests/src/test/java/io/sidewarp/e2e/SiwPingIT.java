// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Capture;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.Dissection;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.SiwGuest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The rping of Linux soft-iWARP against {@code sidewarp ping --rping}: data goes there by RDMA Read and back by RDMA
 * Write, and rping compares it. tshark judges what was on the wire.
 */
@ExtendWith(Logs.class)
class SiwPingIT {

    private static final int CONNECTIONS = 100;

    private static SiwGuest guest;
    private static SidecarProcess sidecar;

    @BeforeAll
    static void start() {
        guest = SiwGuest.get();
        sidecar = SidecarProcess.with("siw-ping")
                .set("sidewarp.connection.allow-crc-off", "true")
                .set("sidewarp.connection.integrity-protection", "loopback of a test")
                .start();
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
            Dissection dissected = answering.dissect(1, crc);
            assertThat(dissected.count("OpCode: Read Request")).isEqualTo(10);
        }
    }

    @Test
    void aHundredRpingsOfSiwAtATimeGetTheirData() {
        guest.configure(2, true, false);
        try (Answering answering = new Answering("siw-rping-" + CONNECTIONS, true)) {
            String all = "for i in $(seq " + CONNECTIONS + "); do " + answering.rping(5)
                    + " & pids=\"$pids $!\"; done; for pid in $pids; do wait $pid || exit 1; done";
            guest.run(all, Patience.LONG_LIMIT).orThrow();
            Patience.await("all clients were served").until(() -> answering.served() == CONNECTIONS);
            Dissection dissected = answering.dissect(CONNECTIONS, true);
            assertThat(dissected.count("OpCode: Read Request")).isEqualTo(5 * CONNECTIONS);
        }
    }

    /** A server of pings for the guest, and what is recorded of it. */
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

        /** The guest's command; it ends with 0 when the data is right, but not with anything else when it is not. */
        String rping(int rounds) {
            return "rping -c -a " + SiwGuest.HOST + " -p " + port + " -C " + rounds + " -S 4096 -V -v >log.$i 2>&1"
                    + " && [ $(grep -c '^ping data' log.$i) = " + rounds + " ]";
        }

        long served() {
            return server.output().stream()
                    .filter(line -> line.contains("5 rounds of 4 KiB"))
                    .count();
        }

        Dissection dissect(int connections, boolean crc) {
            capture.stopBehind(connections);
            Dissection dissected = capture.dissect().assertNothingMalformed();
            assertThat(dissected.fpdus()).isPositive();
            assertThat(dissected.goodCrcs()).isEqualTo(crc ? dissected.fpdus() : 0);
            return dissected;
        }

        @Override
        public void close() {
            capture.close();
            server.close();
        }
    }
}
