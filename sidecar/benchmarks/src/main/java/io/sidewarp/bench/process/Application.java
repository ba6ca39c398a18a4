// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.CommandProgram;
import java.nio.file.Path;
import java.util.List;

/**
 * An application beside a sidecar: one JVM that carries out commands of the sidewarp program one after the other. Like
 * the JVMs of the other ends it therefore becomes warm.
 */
final class Application implements AutoCloseable {

    private final JvmProcess process;

    private Application(JvmProcess process) {
        this.process = process;
    }

    /**
     * Starts an application.
     *
     * @param name name of its log
     * @param directory directory for its log
     */
    static Application start(String name, Build build, Place place, Path directory) {
        return new Application(JvmProcess.start(name, build, CommandProgram.class, place, directory));
    }

    /**
     * Carries out a command.
     *
     * @return text that the command printed
     * @throws io.sidewarp.cli.Failure if the command failed
     */
    String run(List<String> arguments) {
        CommandProgram.Reply reply = process.ask(arguments, CommandProgram.Reply.class);
        if (reply.exitCode() != 0) {
            throw process.failure(arguments.toString(), "exit code " + reply.exitCode() + ", " + reply.output(), null);
        }
        return reply.output();
    }

    @Override
    public void close() {
        process.close();
    }
}
