// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.text.HostPort;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options of commands that are either a client or a server. */
public final class ListenFlags {

    @Option(
            names = "--listen",
            paramLabel = "[HOST:]PORT",
            converter = HostPort.ListenConverter.class,
            description = "Be the server. Port 0 takes any free port.")
    private Optional<HostPort> listen = Optional.empty();

    @Option(names = "--once", description = "With --listen: end after the first client.")
    private boolean once;

    /** Returns where to listen, if this command is the server. */
    public Optional<HostPort> address() {
        return listen;
    }

    /** Returns whether the server ends after its first client. */
    public boolean once() {
        return once;
    }
}
