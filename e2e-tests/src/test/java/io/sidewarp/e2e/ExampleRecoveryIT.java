// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.ExampleProgram;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SidecarProcess;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Kills sidecars of the key-value store of {@code examples}. Its programs go on, and nothing is lost. */
@ExtendWith(Logs.class)
class ExampleRecoveryIT {

    private static final Pattern VERSION = Pattern.compile("version (\\d+): \\1 .*");

    /** Changes of the clock after each death. */
    private static final long PROGRESS = 20;

    @ParameterizedTest
    @ValueSource(strings = {"store.py", "store.js", "Store.java"})
    void storeContinuesAfterTheDeathOfEitherSidecar(String file) {
        String port = Integer.toString(Ports.free());
        String program = "key-value-store/" + file;
        try (SidecarProcess left = SidecarProcess.start("left");
                SidecarProcess right = SidecarProcess.start("right");
                OwnedProcess server = ExampleProgram.start(program, right, "serve", port)) {
            server.awaitLine(("listening at port " + port)::equals);
            // The client ends with an error if the clock goes back, or if a value is torn.
            try (OwnedProcess client =
                    ExampleProgram.start(program, left, "get", Link.LOOPBACK + ":" + port, "clock", "1000000")) {
                awaitProgress(client);

                try (SidecarProcess leftAgain = left.replace("left-again")) {
                    awaitProgress(client);

                    try (SidecarProcess rightAgain = right.replace("right-again")) {
                        server.awaitLine(("listening at port " + port + ", and the table is still there")::equals);
                        awaitProgress(client);

                        assertThat(leftAgain.process().isAlive()).isTrue();
                        assertThat(rightAgain.process().isAlive()).isTrue();
                        assertThat(server.isAlive()).isTrue();
                        assertThat(client.isAlive()).isTrue();
                        client.kill();
                        server.kill();
                    }
                }
            }
        }
    }

    private static void awaitProgress(OwnedProcess client) {
        long before = client.output().stream()
                .mapToLong(ExampleRecoveryIT::version)
                .max()
                .orElse(0);
        client.awaitLine(line -> version(line) >= before + PROGRESS);
    }

    private static long version(String line) {
        Matcher matcher = VERSION.matcher(line);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : 0;
    }
}
