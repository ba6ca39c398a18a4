// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TestResourceTest {

    /** A shell that has a process in the background, whose id it prints. */
    private static final String PARENT = "sleep 600 & echo $!; wait";

    /** Registers remains and starts a process, prints the process ID of its child, and waits. */
    static final class Maker {

        private Maker() {}

        public static void main(String[] arguments) throws Exception {
            TestResource.of(() -> System.out.println("first"));
            TestResource.of(() -> {
                throw new IllegalStateException("cannot be taken away");
            });
            TestResource.of(() -> System.out.println("last"));
            Process shell = shell(PARENT);
            TestResource.of(shell);
            System.out.println(shell.inputReader().readLine());
            shell.waitFor();
            Thread.currentThread().join();
        }
    }

    private static Process shell(String script) throws IOException {
        return new ProcessBuilder("bash", "-c", script).start();
    }

    /** A process that nobody has waited for runs no command. */
    private static void awaitGone(String pid) {
        await().atMost(Duration.ofSeconds(20))
                .until(() -> ProcessHandle.of(Long.parseLong(pid))
                        .flatMap(process -> process.info().command())
                        .isEmpty());
    }

    @Test
    void whatAProcessStartedEndsWithIt() throws Exception {
        Process shell = shell(PARENT);
        TestResource remains = TestResource.of(shell);
        String child = shell.inputReader().readLine();

        remains.close();

        assertThat(shell.waitFor(20, TimeUnit.SECONDS)).isTrue();
        awaitGone(child);
    }

    @Test
    void aProcessThatDoesNotListenIsKilledWithWhatItStarted() throws Exception {
        Process shell = shell("trap '' TERM; " + PARENT);
        TestResource remains = TestResource.of(shell);
        String child = shell.inputReader().readLine();

        remains.close();

        assertThat(shell.waitFor(20, TimeUnit.SECONDS)).isTrue();
        awaitGone(child);
    }

    @Test
    void aProcessCanTidyUp() throws Exception {
        Process shell = shell("trap 'echo tidied' EXIT; " + PARENT);
        TestResource remains = TestResource.of(shell);
        BufferedReader output = shell.inputReader();
        output.readLine();

        remains.close();

        assertThat(output.readLine()).isEqualTo("tidied");
    }

    @Test
    void allIsTakenAwayWhenASignalEndsTheJvm() throws Exception {
        Process jvm = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Maker.class.getName()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (TestResource _ = TestResource.of(jvm)) {
            BufferedReader output = jvm.inputReader();
            String child = output.readLine();

            jvm.toHandle().destroy();

            assertThat(output.readAllLines()).containsExactly("last", "first");
            assertThat(jvm.waitFor(20, TimeUnit.SECONDS)).isTrue();
            awaitGone(child);
        }
    }

    @Test
    void whatIsGoneIsTakenAwayOnce() {
        StringBuilder removals = new StringBuilder();
        TestResource remains = TestResource.of(() -> removals.append("x"));

        remains.close();
        remains.close();

        assertThat(removals).hasToString("x");
        assertThat(remains.forget()).isFalse();
    }
}
