// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.cli.Sidewarp;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import picocli.CommandLine;

/**
 * A process that carries out commands of the sidewarp program. Each line of its input is a JSON array of arguments. The
 * answer to each line is a {@link Reply} in one line. The process ends at the end of its input.
 */
public final class CommandProgram {

    /**
     * Result of a command.
     *
     * @param exitCode exit code of the command
     * @param output text that the command printed, including errors
     */
    public record Reply(int exitCode, String output) {}

    private static final ObjectMapper JSON = new ObjectMapper();

    private CommandProgram() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = commands.readLine();
        while (line != null) {
            System.out.println(JSON.writeValueAsString(carryOut(JSON.readValue(line, String[].class))));
            System.out.flush();
            line = commands.readLine();
        }
        // gRPC and Netty may leave threads behind that are not daemons.
        System.exit(0);
    }

    static Reply carryOut(String[] arguments) {
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output, true);
        CommandLine commandLine = Sidewarp.commandLine(Map.of()).setOut(writer).setErr(writer);
        int exitCode = commandLine.execute(arguments);
        writer.flush();
        return new Reply(exitCode, output.toString());
    }
}
