// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.e2e.network.TestNetwork;
import io.sidewarp.e2e.programs.NetworkHolder;
import io.sidewarp.e2e.support.ClientProcess;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Checks that tests leave nothing on the machine. */
@ExtendWith(Logs.class)
class RemainsIT {

    /** A process that nobody has waited for runs no command. */
    private static void awaitGone(String pid) {
        Patience.await("process " + pid + " ends")
                .until(() -> ProcessHandle.of(Long.parseLong(pid))
                        .flatMap(process -> process.info().command())
                        .isEmpty());
    }

    @Test
    void whatAProcessStartedEndsWithItAndItCanTidyUp() {
        OwnedProcess shell = OwnedProcess.start(
                "shell", List.of("bash", "-c", "trap 'echo tidied' EXIT; sleep 600 & echo $!; wait"));
        String child = shell.awaitLine(line -> true);

        shell.close();

        awaitGone(child);
        assertThat(shell.output()).contains("tidied");
    }

    @Test
    void nothingIsLeftOfTestsThatASignalEnds() {
        assumeTrue(TestNetwork.isPermitted(), "network namespaces and TUN devices take root");
        try (OwnedProcess tests = ClientProcess.start(NetworkHolder.class)) {
            List<String> made = List.of(tests.awaitLine(line -> line.startsWith(NetworkHolder.HAS))
                    .substring(NetworkHolder.HAS.length())
                    .split(" "));
            Path left = Path.of("/var/run/netns", made.get(0));
            Path right = Path.of("/var/run/netns", made.get(1));
            Path directory = Path.of(made.get(3));
            assertThat(List.of(left, right, directory))
                    .allSatisfy(path -> assertThat(path).exists());

            tests.terminate();
            tests.awaitExit();

            awaitGone(made.get(2));
            assertThat(List.of(left, right, directory))
                    .allSatisfy(path -> assertThat(path).doesNotExist());
        }
    }
}
