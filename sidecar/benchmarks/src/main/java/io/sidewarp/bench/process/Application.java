// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.CommandProgram;
import java.nio.file.Path;
import java.util.List;

/**
 * An application beside a sidecar: one JVM, as those of the other ends, that carries out commands of the sidewarp program
 * one after the other. So it becomes as warm as they are.
 */
final class Application implements AutoCloseable {

    private final JvmProcess process;

    private Application(JvmProcess process) {
        this.process = process;
    }

    /**
     * Starts it.
     *
     * @param name of its log
     * @param directory for that
     */
    static Application start(String name, Build build, Place place, Path directory) {
        return new Application(JvmProcess.start(name, build, CommandProgram.class, place, directory));
    }

    /**
     * Carries out a command.
     *
     * @return what it printed
     * @throws io.sidewarp.cli.Failure when it failed
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
