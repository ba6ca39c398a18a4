// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.network.OneNamespace;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Two sidecars in a network namespace, and programs that use them through the verbs library. */
public final class VerbsSidecars implements AutoCloseable {

    private final OneNamespace network;
    private final List<SidecarProcess> sidecars = new ArrayList<>();
    private final List<OwnedProcess> programs = new ArrayList<>();

    private VerbsSidecars(OneNamespace network) {
        this.network = network;
    }

    /** Builds the library and starts the sidecars. Ends the test as skipped when a tool is missing. */
    public static VerbsSidecars start() {
        VerbsLibrary.build();
        VerbsSidecars started = new VerbsSidecars(OneNamespace.open());
        try {
            started.sidecars.add(started.another("left"));
            started.sidecars.add(started.another("right"));
            return started;
        } catch (RuntimeException | Error e) {
            started.close();
            throw e;
        }
    }

    /** Starts another sidecar, which the caller closes. */
    public SidecarProcess another(String name) {
        return SidecarProcess.with(name).prefix(network.prefix()).start();
    }

    public SidecarProcess left() {
        return sidecars.getFirst();
    }

    public SidecarProcess right() {
        return sidecars.get(1);
    }

    /** Returns the prefix of commands that must run in the namespace. */
    public List<String> prefix() {
        return network.prefix();
    }

    /**
     * Starts a program at a sidecar.
     *
     * @param variables NAME=VALUE of further variables
     */
    public OwnedProcess program(SidecarProcess side, List<String> variables, String... command) {
        List<String> whole = new ArrayList<>(prefix());
        whole.add("env");
        whole.addAll(variables);
        whole.addAll(VerbsLibrary.environment(side));
        whole.addAll(List.of(command));
        String name = command[0].substring(command[0].lastIndexOf('/') + 1);
        OwnedProcess program = OwnedProcess.start(name, whole, Map.of(), Programs.output());
        programs.add(program);
        return program;
    }

    /** Ends the programs, and waits until the shared volumes of both sidecars are empty. */
    public void endPrograms() {
        programs.forEach(OwnedProcess::close);
        programs.clear();
        Patience.await("the shared volumes are empty again").untilAsserted(() -> {
            assertThat(left().volumeFiles()).isEmpty();
            assertThat(right().volumeFiles()).isEmpty();
        });
    }

    /** Waits until a program listens on a port of the namespace. */
    public void awaitListening(int port, OwnedProcess server) {
        VerbsLibrary.awaitListening(prefix(), port, server);
    }

    @Override
    public void close() {
        programs.forEach(OwnedProcess::close);
        sidecars.forEach(SidecarProcess::close);
        network.close();
    }
}
