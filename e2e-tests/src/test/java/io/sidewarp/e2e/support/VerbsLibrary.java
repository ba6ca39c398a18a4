// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The verbs library (clients/verbs), built for tests. */
public final class VerbsLibrary {

    private static final Path BUILT = Programs.output().resolveSibling("verbs");

    private VerbsLibrary() {}

    /** Builds the library. Ends the test as skipped when a tool is missing. */
    public static void build() {
        Tools.need("gcc", "gcc");
        Tools.needFile("/usr/include/infiniband/verbs.h", "libibverbs-dev");
        Tools.needFile("/usr/include/rdma/rdma_cma.h", "librdmacm-dev");
        finish(OwnedProcess.start(
                "verbs-build",
                List.of(Programs.root().resolve("clients/verbs/build").toString(), BUILT.toString())));
    }

    /** Path of the library. */
    public static Path path() {
        return BUILT.resolve("libsidewarp-verbs.so");
    }

    /** Returns NAME=VALUE of the variables by which a program uses the library at a sidecar. */
    public static List<String> environment(SidecarProcess sidecar) {
        return List.of(
                "LD_PRELOAD=" + path(), "SIDEWARP_API=" + sidecar.target(), "SIDEWARP_VOLUME=" + sidecar.volume());
    }

    /**
     * Waits until a program listens on a port.
     *
     * @param prefix of the command that looks, for a network namespace
     */
    public static void awaitListening(List<String> prefix, int port, OwnedProcess server) {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of("ss", "-Hltn", "sport = :" + port));
        Patience.await("a program listens on port " + port).until(() -> {
            if (!server.isAlive()) {
                throw new AssertionError("the server ended:\n" + server.text());
            }
            return !Tools.output(command, Programs.output().resolve("ss.log")).isEmpty();
        });
    }

    /** Waits for the end of a program that must succeed, and returns what it printed. */
    public static String finish(OwnedProcess program) {
        assertThat(program.awaitExit()).as(program.text()).isZero();
        return program.text();
    }
}
