// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests leave nothing on the machine. */
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
}
