// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The packaged `sidewarp` command. Its environment names the sidecar to use. */
public final class CliProcess {

    private static final String LISTENING = "listening on ";
    private static final ObjectMapper JSON = new ObjectMapper();

    private CliProcess() {}

    /**
     * Exit code and output of an ended command.
     *
     * @param output lines, standard output and standard error together
     */
    public record Ended(int exitCode, List<String> output) {

        public String text() {
            return String.join("\n", output);
        }

        /** Checks that the command failed as documented, with a message and without a stack trace. */
        public void assertFailed(int expectedCode, String... words) {
            assertThat(exitCode).as(text()).isEqualTo(expectedCode);
            assertThat(text()).startsWith("sidewarp: ").contains(words).doesNotContain("\tat ");
        }

        /** Parses each line as JSON. */
        public List<JsonNode> json() {
            return output.stream().map(Ended::parse).toList();
        }

        private static JsonNode parse(String line) {
            try {
                return JSON.readTree(line);
            } catch (IOException e) {
                throw new UncheckedIOException(line, e);
            }
        }
    }

    /** Runs a command to its end. */
    public static Ended run(SidecarProcess sidecar, String... arguments) {
        return runUnder(List.of(), sidecar, arguments);
    }

    /** @param wrapper a program, with its arguments, that starts the command */
    public static Ended runUnder(List<String> wrapper, SidecarProcess sidecar, String... arguments) {
        try (OwnedProcess process = startUnder(wrapper, sidecar, arguments)) {
            int exitCode = process.awaitExit();
            return new Ended(exitCode, process.output());
        }
    }

    /** Waits for the address on which a command with --listen listens. */
    public static String awaitAddress(OwnedProcess server) {
        return server.awaitLine(line -> line.startsWith(LISTENING)).substring(LISTENING.length());
    }

    public static OwnedProcess start(SidecarProcess sidecar, String... arguments) {
        return startUnder(List.of(), sidecar, arguments);
    }

    /** @param wrapper a program, with its arguments, that starts the command */
    public static OwnedProcess startUnder(List<String> wrapper, SidecarProcess sidecar, String... arguments) {
        // Where the tests run in the background of a shell, SIGINT is ignored, and processes inherit that.
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
        command.addAll(wrapper);
        command.add(Programs.java());
        command.addAll(Programs.jvmFlags());
        command.addAll(List.of("-jar", Programs.cliJar().toString()));
        command.addAll(List.of(arguments));
        Map<String, String> environment = Map.of(
                "SIDEWARP_API",
                sidecar.target(),
                "SIDEWARP_VOLUME",
                sidecar.volume().toString());
        return OwnedProcess.start("cli-" + arguments[0], command, environment, Programs.output());
    }
}
