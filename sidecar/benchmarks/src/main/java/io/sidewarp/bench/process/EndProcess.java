// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.EndCommand;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.EndProgram;
import io.sidewarp.bench.end.EndReply;
import java.nio.file.Path;

/** One end: a JVM that runs {@link EndProgram}. */
final class EndProcess implements AutoCloseable {

    private final JvmProcess process;

    private EndProcess(JvmProcess process) {
        this.process = process;
    }

    /**
     * Starts an end.
     *
     * @param role active or passive
     * @param address address of the passive end
     * @param directory directory for its log
     */
    static EndProcess start(Build build, EndKind kind, String role, Place place, String address, Path directory) {
        return new EndProcess(JvmProcess.start(
                kind + "-" + role, build, EndProgram.class, place, directory, kind.name(), role, address));
    }

    long pid() {
        return process.pid();
    }

    /**
     * Sends a command to the end and returns the reply.
     *
     * @throws io.sidewarp.cli.Failure if the end cannot carry out the command
     */
    EndReply call(EndCommand command) {
        EndReply reply = process.ask(command, EndReply.class);
        String error = reply.error();
        if (error != null) {
            throw process.failure(command.toString(), error, null);
        }
        return reply;
    }

    @Override
    public void close() {
        process.close();
    }
}
