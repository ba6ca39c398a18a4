// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** A command that makes connections in a session of its own. */
public abstract class SessionCommand implements Callable<Integer> {

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectionFlags flags;

    /** Work in a session. */
    @FunctionalInterface
    protected interface Work<T> {

        T run(Session session) throws Exception;
    }

    /** Opens a session with the sidecar, does the work, and closes the session. Returns the result of the work. */
    protected final <T> T inSession(Work<T> work) throws Exception {
        try (SidewarpClient client = sidewarp.client();
                Session session = client.openSession(spec.qualifiedName())) {
            return work.run(session);
        }
    }

    /** Returns the value of --api, or its default. */
    protected final String target() {
        return sidewarp.clientOptions().target();
    }

    protected final ConnectionFlags flags() {
        return flags;
    }

    protected final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    protected final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /** Returns the failure for arguments that do not go together or are out of their range. */
    protected final ParameterException wrongArguments(String why) {
        return new ParameterException(spec.commandLine(), why);
    }
}
