// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.bench.process.Memory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A process at one end: {@code EndProgram KIND active|passive ADDRESS}, with the address of the passive end. The
 * process ends at the end of its standard input.
 */
public final class EndProgram {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final @Nullable ActiveEnd active;
    private final @Nullable PassiveEnd passive;
    private Usage begin = Usage.now();

    private EndProgram(@Nullable ActiveEnd active, @Nullable PassiveEnd passive) {
        this.active = active;
        this.passive = passive;
    }

    public static void main(String[] arguments) throws Exception {
        EndKind kind = EndKind.valueOf(arguments[0]);
        InetAddress address = InetAddress.getByName(arguments[2]);
        EndProgram program = arguments[1].equals("active")
                ? new EndProgram(kind.active(address), null)
                : new EndProgram(null, kind.passive(address));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            program.serve(commands, System.out);
        } finally {
            program.release();
        }
        // gRPC and Netty leave threads behind that are not daemons.
        System.exit(0);
    }

    private void serve(BufferedReader commands, PrintStream replies) throws IOException {
        String line = commands.readLine();
        while (line != null) {
            replies.println(JSON.writeValueAsString(reply(line)));
            replies.flush();
            line = commands.readLine();
        }
    }

    private EndReply reply(String line) {
        try {
            return carryOut(JSON.readValue(line, EndCommand.class));
        } catch (Exception e) {
            e.printStackTrace();
            return EndReply.failed(String.valueOf(e));
        }
    }

    private EndReply carryOut(EndCommand command) throws Exception {
        return switch (command.verb()) {
            case LISTEN -> EndReply.listening(passive().listen(Objects.requireNonNull(command.plan())));
            case CONNECT -> {
                active().connect(Objects.requireNonNull(command.plan()), command.port());
                yield EndReply.done();
            }
            case RUN -> {
                Usage before = Usage.now();
                DutyOutcome outcome = active().run(command.nanos());
                yield EndReply.ran(outcome, Usage.now().since(before));
            }
            case BEGIN -> {
                begin = Usage.now();
                yield EndReply.done();
            }
            case END -> EndReply.used(Usage.now().since(begin));
            case MEMORY -> EndReply.uses(memoryInUse());
            case RELEASE -> {
                release();
                yield EndReply.done();
            }
        };
    }

    /**
     * Returns the memory in use. All of the heap is resident from the start ({@code AlwaysPreTouch}), so only its used
     * part counts.
     */
    @SuppressWarnings("DoNotCall") // Garbage is not memory that connections take.
    private static long memoryInUse() {
        System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return Memory.residentOctets(ProcessHandle.current().pid()) - heap.getCommitted() + heap.getUsed();
    }

    private ActiveEnd active() {
        return Objects.requireNonNull(active, "this is the passive end");
    }

    private PassiveEnd passive() {
        return Objects.requireNonNull(passive, "this is the active end");
    }

    private void release() throws Exception {
        if (active != null) {
            active.close();
        }
        if (passive != null) {
            passive.close();
        }
    }
}
