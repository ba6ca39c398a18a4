// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import io.sidewarp.e2e.support.Traffic;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests {@code sidewarp top} as a process. */
@ExtendWith(Logs.class)
class TopCommandIT {

    private static final String NO_CONNECTIONS = "0 connections, 0 established";

    /** Runs a command in a terminal of 50 columns and 3 lines. Presses q after some frames. */
    private static final String TERMINAL = """
            import fcntl, os, pty, struct, sys, termios
            pid, terminal = pty.fork()
            if pid == 0:
                os.environ['TERM'] = 'xterm'
                os.execvp(sys.argv[1], sys.argv[1:])
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 3, 50, 0, 0))
            said = b''
            pressed = False
            try:
                while piece := os.read(terminal, 65536):
                    said += piece
                    if not pressed and said.count(b'\\x1b[H') > 2:
                        pressed = True
                        os.write(terminal, b'q')
            except OSError:
                pass
            print(repr(said))
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """;

    @Test
    void theFastestConnectionIsFirstWithItsRates() {
        try (SidecarProcess sidecar = SidecarProcess.start("top");
                SidewarpClient client = sidecar.client()) {
            Session session = client.openSession("busy-session");
            Link idle = Link.connect(session, session);
            Link busy = Link.connect(session, session);
            try (Traffic traffic = writes(session, busy)) {
                traffic.awaitFlow();

                Ended ended = CliProcess.run(sidecar, "top", "--count", "2", "--interval", "1s");
                assertThat(ended.exitCode()).as(ended.text()).isZero();
                List<String> lines = ended.output();
                assertThat(lines).hasSize(14);
                assertThat(lines.getFirst())
                        .contains("4 connections, 4 established; sent ")
                        .doesNotContain("sent 0 bit/s");
                assertThat(lines.get(1)).containsSubsequence("ID", "SENT", "RECEIVED", "OUT", "IN", "STATE", "REMOTE");
                assertThat(List.of(id(lines.get(2)), id(lines.get(3))))
                        .containsExactlyInAnyOrder(
                                busy.initiator().id(), busy.responder().id());
                assertThat(lines.subList(4, 6)).allMatch(line -> line.matches(" *\\d+( +0 bit/s){2}( +0 /s){2} .*"));
                assertThat(lines.get(7)).contains("4 connections, 4 established; sent ");

                Ended one = CliProcess.run(
                        sidecar,
                        "top",
                        "--count",
                        "1",
                        "--interval",
                        "100ms",
                        "--id",
                        Long.toString(idle.initiator().id()));
                assertThat(one.output().getFirst()).contains("1 connections, 1 established; sent 0 bit/s");
                Ended none =
                        CliProcess.run(sidecar, "top", "--count", "1", "--interval", "100ms", "--session", "another");
                assertThat(none.text()).contains("none of 4 connections matches --session another");
            }
        }
    }

    /** Returns the number in the first column. */
    private static long id(String row) {
        return Long.parseLong(row.strip().split(" ", 2)[0]);
    }

    /** Returns traffic of many small RDMA Writes. */
    private static Traffic writes(Session session, Link link) {
        SharedRegion source = session.createSharedRegion("top", 4096);
        ManagedRegion target = session.registerManaged(4096, Access.REMOTE_WRITE);
        return new Traffic(
                session,
                link.initiator(),
                32,
                WorkRequest.write(link.initiator(), target.address(), source.slice(0, 4096)));
    }

    @Test
    void topContinuesWhenTheSidecarRestarts() {
        try (SidecarProcess first = SidecarProcess.start("first");
                OwnedProcess top = CliProcess.start(first, "top", "--interval", "100ms")) {
            top.awaitLine(line -> line.contains(NO_CONNECTIONS));
            first.process().kill();
            first.process().awaitExit();
            top.awaitLine(line -> line.contains("no answer from the sidecar at " + first.target()));
            int before = top.output().size();
            try (SidecarProcess second = SidecarProcess.with("second")
                    .set("sidewarp.api.socket", first.socket().toString())
                    .set("sidewarp.shared-volume", first.volume().toString())
                    .launch()) {
                Patience.await("top shows the next sidecar").until(() -> {
                    List<String> lines = top.output();
                    return lines.subList(before, lines.size()).stream().anyMatch(line -> line.contains(NO_CONNECTIONS));
                });
                assertThat(second.process().isAlive()).isTrue();
            }
            assertThat(top.isAlive()).isTrue();
        }
    }

    @Test
    void aTerminalIsRedrawnInPlaceAndFitsUntilTheKeyQ() {
        Tools.need("python3", "python3");
        try (SidecarProcess sidecar = SidecarProcess.start("terminal");
                SidewarpClient client = sidecar.client()) {
            Session session = client.openSession("session-with-a-name-that-does-not-fit");
            Link.connect(session, session);

            Ended ended =
                    CliProcess.runUnder(List.of("python3", "-c", TERMINAL), sidecar, "top", "--interval", "200ms");

            assertThat(ended.exitCode()).as(ended.text()).isZero();
            assertThat(ended.output()).hasSize(1);
            String[] frames = ended.output().getFirst().split("\\\\x1b\\[H", -1);
            assertThat(frames.length).isGreaterThan(2);
            assertThat(frames[0]).contains("\\x1b[?1049h");
            assertThat(frames[frames.length - 1]).endsWith("\\x1b[?1049l'");
            for (String frame : List.of(frames).subList(1, frames.length)) {
                String[] lines = frame.split("\\\\x1b\\[K", -1);
                assertThat(lines[0]).contains("2 connections, 2 established");
                assertThat(lines[1]).contains("ID", "SENT");
                assertThat(lines[2]).isEqualTo("\\r\\n(2 more lines)");
                assertThat(lines[0]).hasSizeLessThanOrEqualTo(50);
            }
        }
    }
}
