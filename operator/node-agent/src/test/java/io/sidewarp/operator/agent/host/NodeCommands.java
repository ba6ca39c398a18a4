// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/** Commands that tests run as root on a machine of their own: the virtual machine of the end-to-end tests. */
public final class NodeCommands {

    private NodeCommands() {}

    /** Returns the host of this machine. */
    public static Host host() {
        return new LinuxHost(Path.of("/sys"), Path.of("/proc"), Duration.ofSeconds(10));
    }

    /** Runs shell commands that have to succeed, and returns what they wrote. */
    public static String run(String script) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-ec", script)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        if (status != 0) {
            throw new IOException(script + " ended with " + status + ": " + output);
        }
        return output.strip();
    }
}
