// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChildrenTest {

    private static final String REFUSED = "refused";

    /** Ends while another thread starts a process. */
    static final class Ending {

        private Ending() {}

        public static void main(String[] arguments) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(startWhenEnding())));
            System.exit(Children.areEnding() ? 1 : 0);
        }

        private static String startWhenEnding() {
            while (!Children.areEnding()) {
                Thread.onSpinWait();
            }
            try {
                return String.valueOf(
                        Children.start(new ProcessBuilder("sleep", "60")).pid());
            } catch (Failure e) {
                return REFUSED;
            } catch (IOException e) {
                return e.toString();
            }
        }
    }

    @Test
    void nothingIsStartedThatNobodyWouldEnd() throws Exception {
        Process ending = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Ending.class.getName()))
                .redirectErrorStream(true)
                .start();
        String output = new String(ending.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();

        // The started process must not outlive this test either.
        if (output.matches("[0-9]+")) {
            ProcessHandle.of(Long.parseLong(output)).ifPresent(ProcessHandle::destroyForcibly);
        }
        assertThat(output).isEqualTo(REFUSED);
        assertThat(ending.waitFor()).isZero();
    }
}
