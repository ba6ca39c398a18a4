// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program of the machine that ends by itself. */
final class Command {

    private static final long PATIENCE_SECONDS = 60;

    private Command() {}

    /**
     * Runs a command.
     *
     * @param hint requirements of the command, for people whose machine lacks them
     * @return output of the command
     * @throws Failure if the command cannot be started or fails
     */
    static String run(String hint, List<String> command) {
        Process process = start(hint, command);
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw failure(hint, command, output);
            }
            return output;
        } catch (IOException e) {
            throw failure(hint, command, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }

    /** Starts a command without waiting for its end. */
    static Process start(String hint, List<String> command) {
        try {
            return Children.start(new ProcessBuilder(command).redirectErrorStream(true));
        } catch (IOException e) {
            throw failure(hint, command, String.valueOf(e.getMessage()));
        }
    }

    private static Failure failure(String hint, List<String> command, String what) {
        return new Failure(ExitCode.FAILED, String.join(" ", command) + " failed: " + what.strip() + " (" + hint + ")");
    }
}
