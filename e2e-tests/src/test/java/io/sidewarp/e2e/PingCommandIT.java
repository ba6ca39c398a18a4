// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SidecarPair;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code sidewarp ping} as a process, and the exit codes that docs/cli.md documents for all commands. */
@ExtendWith(Logs.class)
class PingCommandIT {

    @RegisterExtension
    static final SidecarPair SIDECARS = new SidecarPair();

    private static OwnedProcess server;
    private static String address;

    @BeforeAll
    static void start() {
        server = listen("127.0.0.1:0");
        address = CliProcess.awaitAddress(server);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static OwnedProcess listen(String where) {
        return CliProcess.start(SIDECARS.right(), "ping", "--listen", where);
    }

    private static Ended ping(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "ping";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return CliProcess.run(SIDECARS.left(), all);
    }

    @Test
    void eachRoundIsReadAndWrittenAndVerified() {
        Ended ended = ping(address, "--count", "3", "--interval", "1ms", "--size", "100K");

        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(ended.output()).hasSize(5);
        assertThat(ended.output().getFirst())
                .startsWith("ping " + address + ": 100 KiB each way")
                .contains("CRC on");
        assertThat(ended.output().subList(1, 4))
                .allMatch(line -> line.matches("round \\d: read and written, verified, [\\d.]+ [mu]?s"));
        assertThat(ended.output().getLast()).startsWith(address + ": 3 of 3 rounds good; min ");
        Patience.await("the server tells of it").until(() -> server.text().contains("3 rounds of 100 KiB"));
    }

    @Test
    void thePeerCanBeWaitedFor() {
        int port = Ports.free();
        try (OwnedProcess client = CliProcess.start(
                        SIDECARS.left(), "ping", "--wait-ready", "60s", "127.0.0.1:" + port, "--count", "1");
                OwnedProcess late = listen("127.0.0.1:" + port)) {
            assertThat(client.awaitExit()).as(client.text()).isZero();
            assertThat(late.isAlive()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ping --rping",
                "perftest write_bw --size 64 --iterations 10",
                "perftest write_lat --peer-to-peer --iterations 10"
            })
    void soCanAPeerThatSpeaksAsOtherPrograms(String line) {
        String address = "127.0.0.1:" + Ports.free();
        String[] server = (line + " --once --listen " + address).split(" ");
        String[] client =
                (line + (line.contains("rping") ? " --count 1 " : " ") + "--wait-ready 60s " + address).split(" ");
        try (OwnedProcess waiting = CliProcess.start(SIDECARS.left(), client)) {
            Patience.await("it tries")
                    .until(() ->
                            !waiting.isAlive() || !sessions(SIDECARS.left()).isEmpty());
            try (OwnedProcess late = CliProcess.start(SIDECARS.right(), server)) {
                assertThat(waiting.awaitExit()).as(waiting.text()).isZero();
                assertThat(late.awaitExit()).as(late.text()).isZero();
            }
        }
    }

    @Test
    void aPeerThatIsNotIwarpIsAProtocolErrorAndNotWaitedFor() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                OwnedProcess client = CliProcess.start(
                        SIDECARS.left(), "ping", "--wait-ready", "60s", "127.0.0.1:" + other.getLocalPort());
                Socket greeting = other.accept()) {
            greeting.getOutputStream().write("SSH-2.0-OpenSSH_9.2p1\r\n".getBytes(StandardCharsets.US_ASCII));

            assertThat(client.awaitExit()).as(client.text()).isEqualTo(ExitCodes.PROTOCOL);
            assertThat(client.text()).contains("its Key is wrong", "sidewarp ping --listen");
        }
    }

    @Test
    void anAddressWhereNobodyListensIsTemporary() {
        String nobody = "127.0.0.1:" + Ports.free();
        ping(nobody, "--count", "1")
                .assertFailed(ExitCodes.TEMPORARY, nobody, "Connection refused", "sidewarp ping --listen");
    }

    @Test
    void theSidecarsTimeForTheSetUpCountsUnlessAnotherIsGiven() throws IOException {
        try (SidecarProcess brief = SidecarProcess.with("brief")
                        .set("sidewarp.connection.timeout", "300ms")
                        .start();
                ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            String peer = "127.0.0.1:" + silent.getLocalPort();

            CliProcess.run(brief, "ping", peer).assertFailed(ExitCodes.TEMPORARY, peer, "within 300 ms");
            CliProcess.run(brief, "ping", peer, "--connect-timeout", "400ms")
                    .assertFailed(ExitCodes.TEMPORARY, peer, "within 400 ms");
        }
    }

    @Test
    void anUnknownNameIsTemporary() {
        ping("no-such-host.invalid:1").assertFailed(ExitCodes.TEMPORARY, "no-such-host.invalid", "not known");
    }

    @Test
    void anotherCommandsServerRefuses() {
        Ended ended = CliProcess.run(SIDECARS.left(), "perf", "write", address, "--time", "1s");
        ended.assertFailed(ExitCodes.TEMPORARY, address + " refused the connection", "sidewarp ping --listen");
    }

    @Test
    void aPeerThatIsNotThisCommandIsAProtocolError() {
        try (SidewarpClient client = SIDECARS.right().client();
                Session session = client.openSession("stranger");
                Listener listener =
                        session.listen(Link.LOOPBACK, 0, request -> request.accept(ConnectionOptions.defaults()))) {
            ping("127.0.0.1:" + listener.port()).assertFailed(ExitCodes.PROTOCOL, "sidewarp ping --listen");
        }
    }

    @Test
    void aPortInUseIsTemporary() {
        Ended ended = ping("--listen", address);
        ended.assertFailed(ExitCodes.TEMPORARY, "cannot listen", "in use");
    }

    @Test
    void aMissingSidecarIsNamed() {
        Ended ended = ping("--api", "unix:///nowhere/api.sock", address);
        ended.assertFailed(ExitCodes.UNAVAILABLE, "unix:///nowhere/api.sock");
        ended = ping("--wait-ready", "100ms", "--api", "unix:///nowhere/api.sock", address);
        ended.assertFailed(ExitCodes.UNAVAILABLE, "unix:///nowhere/api.sock");
    }

    @Test
    void aVolumeThatIsNotMountedHereIsAMatterOfConfiguration() {
        ping("--volume", "/nowhere", address).assertFailed(ExitCodes.CONFIGURATION, "/nowhere", "SIDEWARP_VOLUME");
    }

    @Test
    void whatTheAdministratorDoesNotAllowIsNotPermitted() {
        ping(address, "--no-crc").assertFailed(ExitCodes.NO_PERMISSION, "sidewarp.connection.allow-crc-off");
    }

    @Test
    void aLimitOfTheSidecarIsNamed() {
        try (SidecarProcess small =
                SidecarProcess.with("small").set("sidewarp.limits.regions", "1").start()) {
            CliProcess.run(small, "ping", address).assertFailed(ExitCodes.NO_RESOURCES, "sidewarp.limits.regions");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"ping", "ping nowhere", "ping a:1 --listen 2", "ping a:1 --size 4X", "show everything", "fly"})
    void wrongArgumentsAreTwo(String line) {
        CliProcess.run(SIDECARS.left(), line.split(" ")).assertFailed(ExitCodes.USAGE, "--help");
    }

    @Test
    void aPeerThatGoesAwayInTheMiddleIsAFailure() {
        try (OwnedProcess doomed = listen("127.0.0.1:0");
                OwnedProcess client = pingWithoutEnd(CliProcess.awaitAddress(doomed))) {
            doomed.kill();

            assertThat(client.awaitExit()).isEqualTo(ExitCodes.FAILED);
            assertThat(client.text()).contains("sidewarp: the connection ended").contains("rounds good; min");
        }
    }

    @Test
    void anInterruptedClientTellsWhatItHasAndReleasesAll() {
        try (OwnedProcess client = pingWithoutEnd(address)) {
            client.interrupt();

            assertThat(client.awaitExit()).isEqualTo(ExitCodes.INTERRUPTED);
            assertThat(client.output().getLast()).contains("rounds good; min");
            assertThat(client.text()).doesNotContain("\tat ");
            assertNoSession(SIDECARS.left());
        }
    }

    @Test
    void aServerEndsOnSigintAndSigterm() {
        try (OwnedProcess interrupted = listen("127.0.0.1:0");
                OwnedProcess terminated = listen("127.0.0.1:0")) {
            CliProcess.awaitAddress(interrupted);
            CliProcess.awaitAddress(terminated);
            List<String> before = sessions(SIDECARS.right());

            interrupted.interrupt();
            terminated.terminate();

            assertThat(interrupted.awaitExit()).isEqualTo(ExitCodes.INTERRUPTED);
            assertThat(terminated.awaitExit()).isEqualTo(ExitCodes.TERMINATED);
            assertThat(interrupted.output()).singleElement().asString().startsWith("listening on ");
            assertThat(terminated.output()).singleElement().asString().startsWith("listening on ");
            Patience.await("both sessions end")
                    .untilAsserted(() -> assertThat(sessions(SIDECARS.right())).hasSize(before.size() - 2));
        }
    }

    private static OwnedProcess pingWithoutEnd(String where) {
        OwnedProcess client = CliProcess.start(SIDECARS.left(), "ping", where, "--count", "0", "--interval", "1ms");
        client.awaitLine(line -> line.startsWith("round 3:"));
        return client;
    }

    private static void assertNoSession(SidecarProcess sidecar) {
        Patience.await("the session ends").until(() -> sessions(sidecar).isEmpty());
    }

    private static List<String> sessions(SidecarProcess sidecar) {
        try (SidewarpClient client = sidecar.client()) {
            return client.listSessions().stream().map(session -> session.name()).toList();
        }
    }
}
